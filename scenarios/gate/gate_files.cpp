#include "harness/record/environment.h"
#include "scenarios/gate/gate_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mirrorscale::scenarios {
namespace {

using Json = nlohmann::ordered_json;
using harness::Change;

constexpr int kGateSchema = 1;

Json optional(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_object(const GateFinding& f) {
  Json json{{"cell_key", f.cell_key},
            {"metric", to_word(f.metric)},
            {"verdict", harness::to_word(f.change)},
            {"fails", f.fails},
            {"baseline_launches", f.baseline_launches},
            {"candidate_launches", f.candidate_launches},
            {"unit", f.by_session ? "session" : "launch"},
            {"relative_change", optional(f.relative_change)},
            {"p", optional(f.p)},
            {"effect", optional(f.effect)},
            {"detectable", optional(f.detectable)},
            {"paired_detectable", optional(f.paired_detectable)},
            {"detail", f.detail},
            {"waiver", nullptr}};
  if (f.waiver != nullptr) json["waiver"] = {{"until", f.waiver->until}, {"reason", f.waiver->reason}};
  return json;
}

/// Text inside an attribute or element; characters that XML 1.0 has no place for become a question mark.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\n':
        result += "&#10;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 0x20 && c != '\t' ? '?' : c;
    }
  }
  return result;
}

std::string words_of(const GateFinding& f) {
  std::string text(harness::to_word(f.change));
  if (f.relative_change) text += fmt::format(": {:+.2f} %", 100 * *f.relative_change);
  if (f.p) text += fmt::format(", p {:.2g}", *f.p);
  if (f.detectable) text += fmt::format(", detectable {:.1f} %", 100 * *f.detectable);
  return f.detail.empty() ? text : text + "; " + f.detail;
}

bool is_skipped(const GateFinding& f) {
  return !f.fails && (f.waiver != nullptr || f.change == Change::kAmbiguous || f.change == Change::kMissing);
}

}  // namespace

std::string to_json(const GateReport& report) {
  Json findings = Json::array();
  for (const GateFinding& finding : report.judgement.findings) findings.push_back(to_object(finding));
  Json counts = Json::object();
  for (const Change change :
       {Change::kBetter, Change::kSame, Change::kWorse, Change::kAmbiguous, Change::kMissing, Change::kNew}) {
    counts[std::string(harness::to_word(change))] = report.judgement.count(change);
  }
  const Json json{{"schema", kGateSchema},
                  {"kind", "gate"},
                  {"time", harness::utc_now()},
                  {"command", report.command},
                  {"version", harness::version()},
                  {"verdict", report.judgement.failed() ? "failed" : "passed"},
                  {"alpha", report.alpha},
                  {"baseline",
                   {{"id", report.baseline.id},
                    {"measured_revision", report.baseline.measured_revision},
                    {"machine_fingerprint", report.baseline.machine_fingerprint},
                    {"content_sha256", report.baseline.content_sha256},
                    {"launches", report.baseline_launches}}},
                  {"candidate",
                   {{"git_revision", report.candidate.git_revision},
                    {"machine_fingerprint", report.candidate.machine_fingerprint},
                    {"launches", report.candidate_launches},
                    {"confirming_launches", report.confirming_launches}}},
                  {"plan_fingerprint", report.candidate.plan_fingerprint},
                  {"other_machine", report.other_machine},
                  {"counts", counts},
                  {"notes", report.judgement.notes},
                  {"findings", findings}};
  return json.dump(1) + "\n";
}

std::string to_junit(const GateReport& report) {
  const auto& findings = report.judgement.findings;
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "<testsuite name=\"mirrorscale gate\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" "
      "time=\"0\" "
      "timestamp=\"{}\">\n",
      findings.size(), std::ranges::count_if(findings, &GateFinding::fails),
      std::ranges::count_if(findings, is_skipped), harness::utc_now().substr(0, 19));
  for (const GateFinding& f : findings) {
    text += fmt::format("<testcase classname=\"{}\" name=\"{}\" time=\"0\">", escaped(f.cell_key),
                        to_word(f.metric));
    if (f.fails) {
      text += fmt::format("<failure message=\"{}\" type=\"{}\"/>", escaped(words_of(f)),
                          harness::to_word(f.change));
    } else if (is_skipped(f)) {
      const std::string why = f.waiver == nullptr ? words_of(f)
                                                  : fmt::format("waived until {}: {} ({})", f.waiver->until,
                                                                f.waiver->reason, words_of(f));
      text += fmt::format("<skipped message=\"{}\"/>", escaped(why));
    } else {
      text += fmt::format("<system-out>{}</system-out>", escaped(words_of(f)));
    }
    text += "</testcase>\n";
  }
  return text + "</testsuite>\n</testsuites>\n";
}

}  // namespace mirrorscale::scenarios
