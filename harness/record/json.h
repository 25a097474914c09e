#pragma once
#include "harness/record/record.h"

#include <string>
#include <string_view>
#include <variant>

namespace mirrorscale::harness {

/// One line of a record file, without the newline; numbers survive a round trip exactly. Validates first.
std::string to_json_line(const RunRecord& run);
std::string to_json_line(const CellRecord& cell);

using Record = std::variant<RunRecord, CellRecord>;

/// Reads one line. Throws std::runtime_error, beginning with `where` (e.g. "runs/a.jsonl:3"), that names the
/// field: text that is not JSON, another schema number, a missing or unknown field, a wrong type, NaN or
/// infinity, a broken promise of the record (see validate).
Record from_json_line(std::string_view line, const std::string& where);

/// Canonical text of a plan: equal plans, equal text. Its fingerprint is a run's `plan_fingerprint`.
std::string canonical_text(const Plan& plan);
std::string plan_fingerprint(const Plan& plan);

/// Of the JSON library: "3.11.2".
std::string json_library_version();

}  // namespace mirrorscale::harness
