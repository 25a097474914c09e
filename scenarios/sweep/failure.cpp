#include "scenarios/sweep/failure.h"

#include "kernels/device_error.h"
#include "scenarios/cells/room.h"
#include "strategies/comm/failure.h"

#include <exception>

namespace mirrorscale::scenarios {

CellFailure failure_of(const CellSpec& spec, const strategies::Dataset& data) {
  using harness::ReasonKind;
  try {
    throw;
  } catch (const kernels::OutOfMemory& error) {
    const auto bytes_of = [&](int batch) {
      CellSpec smaller = spec;
      smaller.global_batch = batch;
      return planned_bytes(smaller, data);
    };
    return {ReasonKind::kOutOfMemory, with_largest_batch(error, bytes_of, spec.global_batch)};
  } catch (const kernels::DeviceFailed& error) {
    return {ReasonKind::kDeviceFailed, error.what()};
  } catch (const strategies::RankLost& error) {
    return {spec.backend == "cuda" ? ReasonKind::kDeviceFailed : ReasonKind::kOther, error.what()};
  } catch (const std::exception& error) {
    return {ReasonKind::kOther, error.what()};
  }
}

}  // namespace mirrorscale::scenarios
