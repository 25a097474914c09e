// A comparison as one line of JSON: judged numbers, and every slice they come from.
#include "harness/record/environment.h"
#include "scenarios/compare/report.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace mirrorscale::scenarios {
namespace {

using Json = nlohmann::ordered_json;

/// Infinity has no number in JSON.
Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json interval(const harness::Interval& i) {
  return {{"value", i.value}, {"low", i.low}, {"high", i.high}};
}

Json build(const BuildInfo& info) {
  return {{"program", info.program}, {"version", info.version}, {"revision", info.revision}};
}

Json side(const CellSpec& cell, const SideCheck& check, const SideTimes& times) {
  Json checks = Json::array();
  for (const harness::Verdict& v : check.verdicts) {
    checks.push_back(
        {{"invariant", v.invariant}, {"verdict", harness::to_word(v.outcome)}, {"evidence", v.evidence}});
  }
  return {{"cell_key", cell.key()},
          {"workload", cell.workload},
          {"devices", cell.devices},
          {"global_batch", cell.global_batch},
          {"backend", cell.backend},
          {"target", check.target},
          {"reduction", cell.reduction},
          {"weight_hash", check.weight_hash},
          {"checks", checks},
          {"step_s", times.step_s},
          {"cpu_step_s", times.cpu_step_s},
          {"slices", times.slices},
          {"preempted_slices", times.preempted}};
}

Json change(const harness::PairedChange& c) {
  return {{"change", interval(c.change)},
          {"p_slower", c.p_slower},
          {"p_faster", c.p_faster},
          {"pair_deviation", c.pair_deviation},
          {"restart_deviation", c.restart_deviation},
          {"neighbour_correlation", c.neighbour_correlation},
          {"clustering", c.clustering},
          {"restart_log_ratios", c.restart_log_ratios},
          {"restart_uncertainty", c.restart_uncertainty}};
}

/// Columns by name: short, and every slice stays.
Json restart(const Restart& r) {
  Json a_first = Json::array(), a_ns = Json::array(), b_ns = Json::array(), a_cpu = Json::array(),
       b_cpu = Json::array(), a_out = Json::array(), b_out = Json::array();
  const auto ns = [](double seconds) { return std::llround(seconds * 1e9); };
  for (const SlicePair& p : r.pairs) {
    a_first.push_back(p.a_first ? 1 : 0);
    a_ns.push_back(ns(p.a.seconds));
    b_ns.push_back(ns(p.b.seconds));
    a_cpu.push_back(ns(p.a.cpu_s));
    b_cpu.push_back(ns(p.b.cpu_s));
    a_out.push_back(p.a.preemptions);
    b_out.push_back(p.b.preemptions);
  }
  return {{"steps_per_slice", r.steps_per_slice},
          {"warmup_steps", r.warmup_steps},
          {"settled", r.settled},
          {"planted_s", r.planted_s},
          {"a_first", a_first},
          {"a_ns", a_ns},
          {"b_ns", b_ns},
          {"a_cpu_ns", a_cpu},
          {"b_cpu_ns", b_cpu},
          {"a_preemptions", a_out},
          {"b_preemptions", b_out}};
}

Json cell(const CellComparison& c, const std::optional<CellJudgement>& j) {
  Json json{{"name", c.cell.name},
            {"a", side(c.cell.a, c.check_a, times_of(c, true))},
            {"b", side(c.cell.b, c.check_b, times_of(c, false))},
            {"same_result", c.same_result() ? Json(*c.same_result()) : Json(nullptr)},
            {"verdict", j ? Json(harness::to_word(j->judged.verdict))
                          : Json(c.check_failed() ? "check_failed" : "not_timed")},
            {"reason", c.reason}};
  if (!j) return json;
  json["why"] = j->judged.why;
  json["clock"] = j->clock == SliceClock::kCpu ? "cpu" : "wall";
  json["p_slower_adjusted"] = j->judged.p_slower;
  json["p_faster_adjusted"] = j->judged.p_faster;
  json["detectable"] = finite(j->judged.detectable);
  json["wall"] = change(j->wall);
  json["cpu"] = change(j->cpu);
  json["restarts"] = Json::array();
  for (const Restart& r : c.restarts) json["restarts"].push_back(restart(r));
  return json;
}

}  // namespace

std::string to_json(const CompareReport& report) {
  const harness::Environment machine = harness::detect_environment();
  Json json{{"kind", "comparison"},
            {"schema", kComparisonSchema},
            {"finished", harness::utc_now()},
            {"command", report.command},
            {"build_a", build(report.build_a)},
            {"build_b", build(report.build_b)},
            {"machine",
             {{"host", machine.host},
              {"cpu_model", machine.cpu_model},
              {"cores", machine.cores},
              {"kernel", machine.kernel}}},
            {"settings",
             {{"restarts", report.restarts},
              {"restart_s", report.restart_s},
              {"slice_s", report.slice_s},
              {"seed", report.seed},
              {"alpha", report.rule.alpha},
              {"floor", report.rule.floor},
              {"same_within", report.rule.same_within},
              {"planted_b", report.planted_b},
              {"random_layouts", report.random_layouts}}},
            {"elapsed_s", report.elapsed_s},
            {"worse", report.worse()},
            {"cells", Json::array()}};
  for (std::size_t i = 0; i < report.cells.size(); ++i)
    json["cells"].push_back(cell(report.cells[i], report.judgements[i]));
  return json.dump() + "\n";
}

}  // namespace mirrorscale::scenarios
