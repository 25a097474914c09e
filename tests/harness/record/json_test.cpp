#include "harness/record/json.h"

#include "tests/harness/support/sample_records.h"

#include <cmath>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace mirrorscale::harness {
namespace {

using Json = nlohmann::ordered_json;

std::string refusal(const std::string& line) {
  try {
    from_json_line(line, "a.jsonl:3");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "accepted";
}

template <class Record>
std::string write_refusal(const Record& record) {
  try {
    to_json_line(record);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Json, RoundTripKeepsEveryBit) {
  const RunRecord run = sample_run();
  EXPECT_EQ(std::get<RunRecord>(from_json_line(to_json_line(run), "here")), run);
  for (CellRecord cell : {sample_cell(), failed_cell()}) {
    EXPECT_EQ(std::get<CellRecord>(from_json_line(to_json_line(cell), "here")), cell);
    cell.flops_per_sample = std::nextafter(0.1, 1);
    EXPECT_EQ(std::get<CellRecord>(from_json_line(to_json_line(cell), "here")), cell);
  }
}

// Records that were written before these fields were there stay as they are, byte for byte.
TEST(Json, WhatGpusAddIsLeftOutWhereThereAreNone) {
  for (const char* field :
       {"cuda_devices", "cross_device_ops", "emulated", "reason_kind", "graphs", "registered_buffers"}) {
    EXPECT_EQ((to_json_line(sample_run()) + to_json_line(failed_cell())).find(field), std::string::npos)
        << field;
  }
}

TEST(Json, RoundTripOfGpus) {
  RunRecord run = sample_run();
  run.environment.cuda_devices = {{"cuda:0", "NVIDIA H200", "GPU-0", "0000:3b:00.0", "9.0", 1 << 30, false},
                                  {"cuda:1", "Emulated", "", "", "9.0", 1 << 20, true}};
  EXPECT_EQ(std::get<RunRecord>(from_json_line(to_json_line(run), "here")), run);
  CellRecord cell = sample_cell();
  cell.backend = "cuda";
  cell.numerics = "fast";
  cell.precision = "tf32";
  cell.reduction = "bucketed";
  cell.cross_device_ops = "hierarchical_copy";
  cell.graphs = cell.registered_buffers = true;
  EXPECT_EQ(std::get<CellRecord>(from_json_line(to_json_line(cell), "here")), cell);
  cell.emulated = true;
  cell.measurement->speedup.reset();
  cell.measurement->efficiency.reset();
  EXPECT_EQ(std::get<CellRecord>(from_json_line(to_json_line(cell), "here")), cell);
  cell.measurement.reset();
  cell.status = CellStatus::kError;
  cell.reason = "cuda:0 is out of memory";
  for (const ReasonKind kind : {ReasonKind::kOutOfMemory, ReasonKind::kDeviceFailed}) {
    cell.reason_kind = kind;
    EXPECT_EQ(std::get<CellRecord>(from_json_line(to_json_line(cell), "here")), cell);
  }
}

TEST(Json, RefusesWhatGpusMayNotSay) {
  CellRecord cell = sample_cell();
  cell.emulated = true;  // with a speed-up
  EXPECT_NE(write_refusal(cell).find("no scaling claim"), std::string::npos);
  cell = sample_cell();
  cell.precision = "bf16";  // in exact numerics
  EXPECT_NE(write_refusal(cell).find("precision"), std::string::npos);
  cell = sample_cell();
  cell.cross_device_ops = "ring";
  EXPECT_NE(write_refusal(cell).find("cross_device_ops"), std::string::npos);
  cell = sample_cell();
  cell.reason_kind = ReasonKind::kOutOfMemory;  // with status ok
  EXPECT_NE(write_refusal(cell).find("reason_kind"), std::string::npos);
  RunRecord run = sample_run();
  run.environment.cuda_devices.resize(1);
  EXPECT_NE(write_refusal(run).find("cuda_devices"), std::string::npos);
}

TEST(Json, ALineBeginsWithSchemaAndKindAndIsOneLine) {
  CellRecord cell = failed_cell();
  cell.reason = "two\nlines \"quoted\" and \xff";  // not UTF-8
  const std::string line = to_json_line(cell);
  EXPECT_EQ(line.substr(0, 26), R"({"schema":2,"kind":"cell",)");
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(std::get<CellRecord>(from_json_line(line, "here")).reason, "two\nlines \"quoted\" and \uFFFD");
}

// Shared with the Python reader: what the C++ side reads and writes again says the same.
TEST(Json, GoldenFiles) {
  for (const std::string version : {"1", "2"}) {
    std::ifstream file(MIRRORSCALE_TESTS_DIR "/golden/records_v" + version + ".jsonl");
    int lines = 0;
    for (std::string line; std::getline(file, line); ++lines) {
      const Record record = from_json_line(line, "golden:" + std::to_string(lines + 1));
      const std::string again = std::visit([](const auto& held) { return to_json_line(held); }, record);
      Json expected = Json::parse(line);
      expected["schema"] = 2;  // what was read of an older schema is written as the newest
      EXPECT_EQ(Json::parse(again), expected) << "version " << version << ", line " << lines + 1;
    }
    EXPECT_GE(lines, 3);
  }
}

std::vector<Json> golden_2() {
  std::ifstream file(MIRRORSCALE_TESTS_DIR "/golden/records_v2.jsonl");
  std::vector<Json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
  return lines;
}

TEST(Json, WhatCameWithSchema2IsRefusedInSchema1) {
  const std::vector<Json> lines = golden_2();
  const auto as_1 = [&](std::size_t line, std::vector<const char*> without) {
    Json json = lines.at(line);
    json["schema"] = 1;
    for (const char* field : without) json.erase(field);
    return refusal(json.dump());
  };
  EXPECT_EQ(as_1(1, {}), "a.jsonl:3: unknown field evaluation: it came with schema 2");
  EXPECT_EQ(as_1(1, {"evaluation"}), "a.jsonl:3: unknown field measurement.clocks: it came with schema 2");
  EXPECT_EQ(as_1(4, {}), "a.jsonl:3: unknown field reason_kind \"disturbed\": it came with schema 2");
}

TEST(Json, ClocksFitTheirCell) {
  const auto bent = [](const char* field, const Json& value) {
    Json json = golden_2().at(3);
    json["measurement"]["clocks"][field] = value;
    return refusal(json.dump());
  };
  EXPECT_NE(bent("preempted_steps", 1'000'000).find("clocks.preempted_steps"), std::string::npos);
  EXPECT_NE(bent("preemptions", Json::array({1})).find("one value a replica (2), not 1"), std::string::npos);
  EXPECT_NE(bent("cpu_s_per_step", Json::array()).find("clocks.cpu_s_per_step"), std::string::npos);
  EXPECT_EQ(bent("instructions_per_step", Json::array()), "accepted");
  EXPECT_NE(bent("steal_share", 1.5).find("steal_share"), std::string::npos);
  EXPECT_NE(bent("gpus", Json::array({{{"uuid", "GPU-0"}}})).find("looks is missing"), std::string::npos);
}

TEST(Json, ForeignContentIsRefusedWithTheLine) {
  EXPECT_EQ(refusal("hello").substr(0, 24), "a.jsonl:3: not a record:");
  EXPECT_EQ(refusal("[1]"), "a.jsonl:3: expected a JSON object");
  EXPECT_EQ(refusal("{}"), "a.jsonl:3: field schema is missing; this is no record of mirrorscale");
  EXPECT_EQ(refusal(R"({"schema":3,"kind":"run"})"),
            "a.jsonl:3: schema 3; this program reads schemas 1 to 2");
  EXPECT_EQ(refusal(R"({"schema":"1","kind":"run"})"),
            "a.jsonl:3: schema \"1\"; this program reads schemas 1 to 2");
  EXPECT_EQ(refusal(R"({"schema":1})"), "a.jsonl:3: field kind is missing");
  EXPECT_EQ(refusal(R"({"schema":1,"kind":"bell"})"),
            "a.jsonl:3: kind \"bell\"; expected \"run\" or \"cell\"");
}

/// The sample with one change made to its JSON.
std::string changed_run(const std::function<void(Json&)>& change) {
  Json json = Json::parse(to_json_line(sample_run()));
  change(json);
  return json.dump();
}
std::string changed_cell(const std::function<void(Json&)>& change) {
  Json json = Json::parse(to_json_line(sample_cell()));
  change(json);
  return json.dump();
}

TEST(Json, EveryFieldIsNeeded) {
  for (const Json& whole :
       {Json::parse(to_json_line(sample_run())), Json::parse(to_json_line(sample_cell()))}) {
    const std::function<void(const Json::json_pointer&)> drop_each = [&](const Json::json_pointer& at) {
      for (const auto& [name, value] : whole[at].items()) {
        // Names below these are the writer's own, not the schema's.
        const std::string parent = at.empty() ? "" : at.back();
        if (parent == "libraries" || parent == "variables" || parent == "axes" || parent == "settings")
          continue;
        Json one_short = whole;
        one_short[at].erase(name);
        const std::string says = refusal(one_short.dump());
        EXPECT_NE(says.find(name + " is missing"), std::string::npos) << at << "/" << name << ": " << says;
        if (value.is_object()) drop_each(at / name);
      }
    };
    drop_each(Json::json_pointer());
  }
}

TEST(Json, UnknownFieldsAndWrongTypesAreNamed) {
  EXPECT_EQ(refusal(changed_run([](Json& j) { j["extra"] = 1; })), "a.jsonl:3: unknown field extra");
  EXPECT_EQ(refusal(changed_cell([](Json& j) { j["measurement"]["speedup"]["x"] = 1; })),
            "a.jsonl:3: unknown field measurement.speedup.x");
  EXPECT_EQ(refusal(changed_run([](Json& j) { j["environment"]["cores"] = "two"; })),
            "a.jsonl:3: field environment.cores: expected a whole number, found \"two\"");
  EXPECT_EQ(refusal(changed_cell([](Json& j) { j["replicas"] = 2.5; })),
            "a.jsonl:3: field replicas: expected a whole number, found 2.5");
  EXPECT_EQ(refusal(changed_cell([](Json& j) { j["seed"] = -1; })),
            "a.jsonl:3: field seed: expected a whole number, not negative, found -1");
  EXPECT_EQ(refusal(changed_cell([](Json& j) { j["measurement"]["step_s"][1] = nullptr; })),
            "a.jsonl:3: field measurement.step_s[1]: expected a number, found null");
  EXPECT_EQ(refusal(changed_cell([](Json& j) { j["status"] = "good"; })),
            "a.jsonl:3: field status: status \"good\"; expected ok, failed, error or skipped");
  EXPECT_EQ(refusal(changed_cell([](Json& j) { j["checks"][0]["verdict"] = "fine"; })),
            "a.jsonl:3: field checks[0].verdict: verdict \"fine\"; expected passed, failed or skipped");
}

TEST(Json, NumbersThatAreNotFiniteAreRefusedBothWays) {
  const std::string line = to_json_line(sample_cell());
  for (const char* literal : {"NaN", "Infinity", "1e999"}) {
    std::string bad = line;
    bad.replace(bad.find("\"flops_per_sample\":60.0"), 23, std::string("\"flops_per_sample\":") + literal);
    EXPECT_EQ(refusal(bad).substr(0, 24), "a.jsonl:3: not a record:") << literal;
  }
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1.0}) {
    CellRecord cell = sample_cell();
    cell.measurement->step_s[1] = bad;
    EXPECT_EQ(write_refusal(cell).substr(0, 25), "field measurement.step_s:") << bad;
  }
}

TEST(Json, PromisesOfACell) {
  const auto broken = [](const std::function<void(CellRecord&)>& change) {
    CellRecord cell = sample_cell();
    change(cell);
    return write_refusal(cell);
  };
  EXPECT_EQ(broken([](CellRecord& c) { c.measurement.reset(); }),
            "field measurement: expected an object, as status is ok");
  EXPECT_EQ(broken([](CellRecord& c) { c.reason = "why"; }),
            "field reason: expected no text, as status is ok");
  EXPECT_EQ(broken([](CellRecord& c) { c.weight_hash.clear(); }),
            "field weight_hash: expected some text, as status is ok");
  EXPECT_EQ(broken([](CellRecord& c) { c.checks.push_back(failed("MIR", "x")); }),
            "field checks: expected none failed, as status is ok");
  EXPECT_EQ(broken([](CellRecord& c) { c.devices.pop_back(); }),
            "field devices: expected one a replica (2), not 1");
  EXPECT_EQ(broken([](CellRecord& c) { c.local_batch = 7; }),
            "field local_batch: expected global_batch / replicas, rounded up (4), not 7");
  EXPECT_EQ(broken([](CellRecord& c) { c.oversubscribed = true; }),
            "field measurement.efficiency: expected null, as speedup, for an oversubscribed cell: it makes "
            "no scaling "
            "claim");
  EXPECT_EQ(broken([](CellRecord& c) { c.measurement->samples_per_s.low = 35; }),
            "field measurement.samples_per_s: expected low <= value <= high");
  EXPECT_EQ(broken([](CellRecord& c) { c.strategy = "magic"; }),
            "field strategy: expected one of one_device, mirrored, not \"magic\"");

  CellRecord failed = failed_cell();
  failed.checks.pop_back();
  EXPECT_EQ(write_refusal(failed), "field checks: expected one that failed, as status is failed");
  failed = failed_cell();
  failed.reason.clear();
  EXPECT_EQ(write_refusal(failed), "field reason: expected some text, as status is not ok");
  failed = failed_cell();
  failed.measurement = sample_measurement();
  EXPECT_EQ(write_refusal(failed), "field measurement: expected null, as status is not ok")
      << "a failed cell has no throughput";
}

TEST(Json, PromisesOfARun) {
  const auto broken = [](const std::function<void(RunRecord&)>& change) {
    RunRecord run = sample_run();
    change(run);
    return write_refusal(run);
  };
  EXPECT_EQ(broken([](RunRecord& r) { r.command.clear(); }),
            "field command: expected at least the program's name");
  EXPECT_EQ(broken([](RunRecord& r) { r.started = "yesterday"; }),
            "field started: expected a time as 2024-06-07T09:30:00Z, not \"yesterday\"");
  EXPECT_EQ(broken([](RunRecord& r) { r.plan_fingerprint = "XYZ"; }),
            "field plan_fingerprint: expected lower-case hexadecimal digits");
  EXPECT_EQ(broken([](RunRecord& r) { r.environment.cores = 0; }),
            "field environment.cores: expected 1 or more, not 0");
  for (const char* good : {"2024-06-07T09:30:00Z", "2024-06-07T09:30:00.25Z", "2024-06-07T09:30:00+00:00"}) {
    EXPECT_EQ(broken([&](RunRecord& r) { r.started = good; }), "accepted");
  }
  for (const char* bad : {"2024-06-07T09:30:00", "2024-06-07T09:30:00.Z", "2024-06-07 09:30:00Z",
                          "2024-06-07T09:30:00+02:00"}) {
    EXPECT_NE(broken([&](RunRecord& r) { r.started = bad; }), "accepted") << bad;
  }
}

TEST(Plan, EqualPlansHaveEqualTextWhateverTheOrderOfNames) {
  const Plan plan = sample_run().plan;
  Plan turned = plan;
  std::swap(turned.axes[0], turned.axes[1]);
  std::swap(turned.settings[0], turned.settings[1]);
  EXPECT_EQ(
      canonical_text(plan),
      R"({"axes":{"devices":[1,2],"optimizer":["adam"]},"settings":{"budget_s":2.5,"synthetic":false}})");
  EXPECT_EQ(plan_fingerprint(turned), plan_fingerprint(plan));
  turned.settings[0].second = true;
  EXPECT_NE(plan_fingerprint(turned), plan_fingerprint(plan));
}

TEST(ThinOut, FirstAndLastStay) {
  std::vector<double> values(5001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  const std::vector<double> kept = thin_out(values);
  EXPECT_EQ(kept.size(), kStepsKept);
  EXPECT_EQ(kept.front(), 0);
  EXPECT_EQ(kept.back(), 5000);
  for (std::size_t i = 1; i < kept.size(); ++i) {
    EXPECT_GE(kept[i] - kept[i - 1], 2);
    EXPECT_LE(kept[i] - kept[i - 1], 3);
  }
  EXPECT_EQ(thin_out({1, 2, 3}, 3), (std::vector<double>{1, 2, 3}));
}

}  // namespace
}  // namespace mirrorscale::harness
