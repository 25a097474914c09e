#pragma once
#include "scenarios/doctor/finding.h"

#include <vector>

namespace mirrorscale::scenarios {

/// Processor, cores and how many devices they are good for, caches, memory nodes, memory, where threads are
/// bound.
FindingSection examine_machine();
/// Version, instruction sets, profiler marks, and a short training that must have the reference's bits.
FindingSection examine_engine();
/// Peak of floating-point operations and memory bandwidth, on one core and on all together; about two
/// seconds.
FindingSection measure_speed();
/// Of each GPU: peak of floating-point operations, rate of products by numerics and precision, of copies;
/// some seconds a GPU. No findings where there is no GPU.
FindingSection measure_cuda_speed();
/// What the cuda backend finds: in this build or not, driver, versions, GPUs; or why there are none.
FindingSection examine_cuda();
/// Libraries, data, and what draws reports.
FindingSection examine_software();

}  // namespace mirrorscale::scenarios
