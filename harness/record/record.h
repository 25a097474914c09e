#pragma once
#include "harness/check/verdict.h"
#include "harness/measure/clocks.h"
#include "harness/measure/interval.h"
#include "harness/measure/stopping.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// What a sweep writes; docs/records.md and reports/record.schema.json say the same. A field is named as in
/// the file.
namespace mirrorscale::harness {

/// What is written. Schema 1 lacks `evaluation`, `clocks` and the kind "disturbed", and is read as well.
inline constexpr int kRecordSchema = 2, kOldestRecordSchema = 1;

/// A GPU that a run may use.
struct CudaDevice {
  std::string name, model, uuid, pci;  // "cuda:0", "NVIDIA H200", "GPU-0123…", "0000:3b:00.0"
  std::string compute_capability;      // "9.0"
  std::int64_t memory_bytes = 0;
  bool emulated = false;  // a stand-in for tests: its times mean nothing
  bool operator==(const CudaDevice&) const = default;
};

struct Environment {
  std::string host, os, kernel, cpu_model;
  std::int64_t cores = 0;  // usable by this process
  std::int64_t numa_nodes = 0, l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0, memory_bytes = 0;
  std::string backend, target;  // the engine's; whoever joins engine and harness fills these
  std::vector<std::string> targets;
  std::string numerics = "exact";  // or "fast"
  std::string compiler, build_type;
  bool nvtx = false;
  std::map<std::string, std::string> libraries, variables;
  std::vector<CudaDevice> cuda_devices;  // absent in the file where there are none
  bool operator==(const Environment&) const = default;
};

using PlanValue = std::variant<bool, std::int64_t, double, std::string>;

/// Axes with their values, and settings; both in the order of the file.
struct Plan {
  std::vector<std::pair<std::string, std::vector<PlanValue>>> axes;
  std::vector<std::pair<std::string, PlanValue>> settings;
  bool operator==(const Plan&) const = default;
};

struct RunRecord {
  std::string run_id, started;  // ISO 8601, UTC
  std::vector<std::string> command;
  std::string version, git_revision;
  Plan plan;
  std::string plan_fingerprint, machine_fingerprint;
  Environment environment;
  bool operator==(const RunRecord&) const = default;
};

enum class Scaling { kStrong, kWeak };
enum class CellStatus { kOk, kFailed, kError, kSkipped };
std::string_view to_word(Scaling scaling);    // "strong", "weak"
std::string_view to_word(CellStatus status);  // "ok", "failed", "error", "skipped"
/// Throw std::invalid_argument for any other word.
Scaling scaling_from_word(std::string_view word);
/// What a program needs to know of the reason: such a cell isn't tried again; the device can't be used any
/// more; too many steps were disturbed, so that its times were thrown away.
enum class ReasonKind { kOther, kOutOfMemory, kDeviceFailed, kDisturbed };
std::string_view to_word(ReasonKind kind);  // "other", "out_of_memory", "device_failed", "disturbed"
ReasonKind reason_kind_from_word(std::string_view word);
CellStatus cell_status_from_word(std::string_view word);

/// Mean seconds a step, mean over replicas.
struct PhasesS {
  double input = 0, forward = 0, backward = 0, reduction = 0, optimizer = 0, wait = 0;
  bool operator==(const PhasesS&) const = default;
};

struct Memory {
  std::int64_t predicted_bytes_per_device = 0, process_peak_bytes = 0;
  bool operator==(const Memory&) const = default;
};

struct Measurement {
  std::int64_t slices = 0, steps_per_slice = 0, steps = 0, warmup_steps = 0;
  StopReason stop_reason = StopReason::kSlices;
  double step_p50_s = 0, step_p95_s = 0, step_min_s = 0;
  Interval samples_per_s;
  std::optional<Interval> speedup, efficiency;
  double confidence = 0.95;
  std::string method = "bootstrap over paired slices";
  std::string base_key;
  PhasesS phases_s;
  std::optional<double> fma_peak_share;
  std::vector<double> slice_samples_per_s, slice_start_s;
  std::vector<double> step_s;    // at most kStepsKept
  std::optional<Clocks> clocks;  // absent in the file where nothing was read
  bool operator==(const Measurement&) const = default;
};
inline constexpr std::size_t kStepsKept = 2000;
/// At most `most` of `values`, evenly spread, first and last among them, in order.
std::vector<double> thin_out(const std::vector<double>& values, std::size_t most = kStepsKept);

struct CellRecord {
  std::string run_id, cell_key, workload, dataset;
  bool synthetic = false;
  std::string strategy, reduction;
  std::vector<std::string> devices;
  std::int64_t replicas = 0, global_batch = 0, local_batch = 0;
  Scaling scaling = Scaling::kStrong;
  std::string optimizer;
  std::uint64_t seed = 0;
  std::string backend, target, numerics = "exact", precision = "fp32";
  std::string cross_device_ops;                     // of cuda cells; absent in the file where empty
  bool graphs = false, registered_buffers = false;  // absent in the file where false
  bool emulated = false;                            // on stand-ins for GPUs; absent in the file where false
  bool oversubscribed = false;
  std::int64_t parameters = 0;
  double flops_per_sample = 0;
  CellStatus status = CellStatus::kSkipped;
  std::string reason;
  ReasonKind reason_kind = ReasonKind::kOther;  // absent in the file where it is kOther
  std::vector<Verdict> checks;
  std::string weight_hash;
  /// Loss and metrics of the test rows after the steps that `weight_hash` is of; absent in the file where
  /// empty.
  std::map<std::string, double> evaluation;
  Memory memory;
  std::optional<Measurement> measurement;
  /// Whether its times say anything about scaling.
  bool makes_claim() const { return !oversubscribed && !emulated; }
  bool operator==(const CellRecord&) const = default;
};

/// What a record promises beyond its types; throws std::invalid_argument naming the field. Among others:
/// finite numbers; ok means measured, no reason, no failed check, a weight hash; otherwise a reason and no
/// measurement; failed means that a check failed; as many devices as replicas; oversubscribed or emulated
/// means no speed-up and no efficiency.
void validate(const RunRecord& run);
void validate(const CellRecord& cell);

}  // namespace mirrorscale::harness
