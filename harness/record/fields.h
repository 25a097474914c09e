#pragma once

/// Each kind of object lists its fields once, in the order of the file; reader and writer both go through the
/// list. `fields` is called as fields(name, member), or fields.optional(name, member) for what is left out of
/// the file where it has its initial value.
namespace mirrorscale::harness {

template <class Fields, class T>
void list_interval(Fields& fields, T& interval) {
  fields("value", interval.value);
  fields("low", interval.low);
  fields("high", interval.high);
}

template <class Fields, class T>
void list_cuda_device(Fields& fields, T& device) {
  fields("name", device.name);
  fields("model", device.model);
  fields("uuid", device.uuid);
  fields("pci", device.pci);
  fields("compute_capability", device.compute_capability);
  fields("memory_bytes", device.memory_bytes);
  fields("emulated", device.emulated);
}

template <class Fields, class T>
void list_environment(Fields& fields, T& environment) {
  fields("host", environment.host);
  fields("os", environment.os);
  fields("kernel", environment.kernel);
  fields("cpu_model", environment.cpu_model);
  fields("cores", environment.cores);
  fields("numa_nodes", environment.numa_nodes);
  fields("l1d_bytes", environment.l1d_bytes);
  fields("l2_bytes", environment.l2_bytes);
  fields("l3_bytes", environment.l3_bytes);
  fields("memory_bytes", environment.memory_bytes);
  fields("backend", environment.backend);
  fields("target", environment.target);
  fields("targets", environment.targets);
  fields("numerics", environment.numerics);
  fields("compiler", environment.compiler);
  fields("build_type", environment.build_type);
  fields("nvtx", environment.nvtx);
  fields("libraries", environment.libraries);
  fields("variables", environment.variables);
  fields.optional("cuda_devices", environment.cuda_devices);
}

template <class Fields, class T>
void list_run(Fields& fields, T& run) {
  fields("run_id", run.run_id);
  fields("started", run.started);
  fields("command", run.command);
  fields("version", run.version);
  fields("git_revision", run.git_revision);
  fields("plan", run.plan);
  fields("plan_fingerprint", run.plan_fingerprint);
  fields("machine_fingerprint", run.machine_fingerprint);
  fields("environment", run.environment);
}

template <class Fields, class T>
void list_phases(Fields& fields, T& phases) {
  fields("input", phases.input);
  fields("forward", phases.forward);
  fields("backward", phases.backward);
  fields("reduction", phases.reduction);
  fields("optimizer", phases.optimizer);
  fields("wait", phases.wait);
}

template <class Fields, class T>
void list_gpu_clocks(Fields& fields, T& gpu) {
  fields("uuid", gpu.uuid);
  fields("looks", gpu.looks);
  fields("sm_hz", gpu.sm_hz);
  fields("memory_hz", gpu.memory_hz);
  fields("temperature_c", gpu.temperature_c);
  fields("power_w", gpu.power_w);
  fields("throttle_reasons", gpu.throttle_reasons);
}

template <class Fields, class T>
void list_clocks(Fields& fields, T& clocks) {
  fields("preempted_steps", clocks.preempted_steps);
  fields("throttled_steps", clocks.throttled_steps);
  fields("disturbed_steps", clocks.disturbed_steps);
  fields("cpu_s_per_step", clocks.cpu_s_per_step);
  fields("preemptions", clocks.preemptions);
  fields("core_wait_s_per_step", clocks.core_wait_s_per_step);
  fields("instructions_per_step", clocks.instructions_per_step);
  fields("core_hz", clocks.core_hz);
  fields("steal_share", clocks.steal_share);
  fields("gpus", clocks.gpus);
  fields("not_measured", clocks.not_measured);
}

template <class Fields, class T>
void list_measurement(Fields& fields, T& measurement) {
  fields("slices", measurement.slices);
  fields("steps_per_slice", measurement.steps_per_slice);
  fields("steps", measurement.steps);
  fields("warmup_steps", measurement.warmup_steps);
  fields("stop_reason", measurement.stop_reason);
  fields("step_p50_s", measurement.step_p50_s);
  fields("step_p95_s", measurement.step_p95_s);
  fields("step_min_s", measurement.step_min_s);
  fields("samples_per_s", measurement.samples_per_s);
  fields("speedup", measurement.speedup);
  fields("efficiency", measurement.efficiency);
  fields("confidence", measurement.confidence);
  fields("method", measurement.method);
  fields("base_key", measurement.base_key);
  fields("phases_s", measurement.phases_s);
  fields("fma_peak_share", measurement.fma_peak_share);
  fields("slice_samples_per_s", measurement.slice_samples_per_s);
  fields("slice_start_s", measurement.slice_start_s);
  fields("step_s", measurement.step_s);
  fields.optional("clocks", measurement.clocks);
}

template <class Fields, class T>
void list_check(Fields& fields, T& check) {
  fields("invariant", check.invariant);
  fields("verdict", check.outcome);
  fields("evidence", check.evidence);
}

template <class Fields, class T>
void list_memory(Fields& fields, T& memory) {
  fields("predicted_bytes_per_device", memory.predicted_bytes_per_device);
  fields("process_peak_bytes", memory.process_peak_bytes);
}

template <class Fields, class T>
void list_cell(Fields& fields, T& cell) {
  fields("run_id", cell.run_id);
  fields("cell_key", cell.cell_key);
  fields("workload", cell.workload);
  fields("dataset", cell.dataset);
  fields("synthetic", cell.synthetic);
  fields("strategy", cell.strategy);
  fields("reduction", cell.reduction);
  fields("devices", cell.devices);
  fields("replicas", cell.replicas);
  fields("global_batch", cell.global_batch);
  fields("local_batch", cell.local_batch);
  fields("scaling", cell.scaling);
  fields("optimizer", cell.optimizer);
  fields("seed", cell.seed);
  fields("backend", cell.backend);
  fields("target", cell.target);
  fields("numerics", cell.numerics);
  fields("precision", cell.precision);
  fields.optional("cross_device_ops", cell.cross_device_ops);
  fields.optional("graphs", cell.graphs);
  fields.optional("registered_buffers", cell.registered_buffers);
  fields.optional("emulated", cell.emulated);
  fields("oversubscribed", cell.oversubscribed);
  fields("parameters", cell.parameters);
  fields("flops_per_sample", cell.flops_per_sample);
  fields("status", cell.status);
  fields("reason", cell.reason);
  fields.optional("reason_kind", cell.reason_kind);
  fields("checks", cell.checks);
  fields("weight_hash", cell.weight_hash);
  fields.optional("evaluation", cell.evaluation);
  fields("memory", cell.memory);
  fields("measurement", cell.measurement);
}

}  // namespace mirrorscale::harness
