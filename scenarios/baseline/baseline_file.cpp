#include "scenarios/baseline/baseline_file.h"

#include "harness/output/file.h"
#include "harness/record/json.h"
#include "harness/record/sha256.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <variant>

namespace mirrorscale::scenarios {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kBaselineSchema = 1;

Json to_json(const BaselineHeader& h) {
  return {{"schema", kBaselineSchema},
          {"kind", "baseline"},
          {"id", h.id},
          {"saved", h.saved},
          {"command", h.command},
          {"version", h.version},
          {"git_revision", h.git_revision},
          {"measured_revision", h.measured_revision},
          {"note", h.note},
          {"machine", h.machine},
          {"machine_fingerprint", h.machine_fingerprint},
          {"plan", h.plan},
          {"plan_fingerprint", h.plan_fingerprint},
          {"launches", h.launches},
          {"cells", h.cells}};
}

BaselineHeader header_from(const Json& json) {
  BaselineHeader h;
  json.at("id").get_to(h.id);
  json.at("saved").get_to(h.saved);
  json.at("command").get_to(h.command);
  json.at("version").get_to(h.version);
  json.at("git_revision").get_to(h.git_revision);
  json.at("measured_revision").get_to(h.measured_revision);
  json.at("note").get_to(h.note);
  json.at("machine").get_to(h.machine);
  json.at("machine_fingerprint").get_to(h.machine_fingerprint);
  json.at("plan").get_to(h.plan);
  json.at("plan_fingerprint").get_to(h.plan_fingerprint);
  json.at("launches").get_to(h.launches);
  json.at("cells").get_to(h.cells);
  json.at("content_sha256").get_to(h.content_sha256);
  return h;
}

std::string sum_of(const BaselineHeader& header, std::string_view rest) {
  return harness::sha256(to_json(header).dump() + "\n" + std::string(rest));
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw std::runtime_error(path.string() + ": " + why);
}

BaselineHeader read_header(const std::filesystem::path& path, std::string_view line) {
  try {
    const Json json = Json::parse(line);
    if (json.at("kind") != "baseline") refuse(path, "no baseline of mirrorscale");
    if (json.at("schema") != kBaselineSchema) {
      refuse(path, fmt::format("baseline schema {}; this program reads {}: save it again",
                               json.at("schema").dump(), kBaselineSchema));
    }
    return header_from(json);
  } catch (const nlohmann::json::exception& error) {
    refuse(path, std::string("no baseline of mirrorscale: ") + error.what());
  }
}

}  // namespace

std::string to_text(Baseline& baseline) {
  std::string rest;
  for (const Launch& launch : baseline.launches) {
    rest += harness::to_json_line(launch.run) + "\n";
    for (const harness::CellRecord& cell : launch.cells) rest += harness::to_json_line(cell) + "\n";
  }
  baseline.header.content_sha256 = sum_of(baseline.header, rest);
  Json first = to_json(baseline.header);
  first["content_sha256"] = baseline.header.content_sha256;
  return first.dump() + "\n" + rest;
}

Baseline read_baseline(const std::filesystem::path& path) {
  const std::string content = harness::read_file(path);
  const std::size_t end = content.find('\n');
  if (end == std::string::npos) refuse(path, "no baseline of mirrorscale: its first line has no end");
  Baseline baseline{read_header(path, std::string_view(content).substr(0, end)), {}, path};
  std::string_view rest = std::string_view(content).substr(end + 1);
  if (sum_of(baseline.header, rest) != baseline.header.content_sha256) {
    refuse(path,
           "was changed since it was saved: its content does not have the SHA-256 of its first line; "
           "restore the file, or save a new baseline");
  }
  for (int line = 2; !rest.empty(); ++line) {
    const std::size_t stop = rest.find('\n');
    harness::Record record =
        harness::from_json_line(rest.substr(0, stop), fmt::format("{}:{}", path.string(), line));
    if (auto* run = std::get_if<harness::RunRecord>(&record)) {
      baseline.launches.push_back({std::move(*run), {}});
    } else if (!baseline.launches.empty()) {
      baseline.launches.back().cells.push_back(std::get<harness::CellRecord>(std::move(record)));
    }
    rest.remove_prefix(stop == std::string_view::npos ? rest.size() : stop + 1);
  }
  require_alike(baseline.launches, path.string() + ":");
  return baseline;
}

}  // namespace mirrorscale::scenarios
