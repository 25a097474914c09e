#include "harness/record/json.h"

#include "harness/record/fields.h"
#include "harness/record/hash.h"

#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace mirrorscale::harness {
namespace {

using Json = nlohmann::ordered_json;

/// Thrown inside the reader; from_json_line puts the line in front.
struct FieldError {
  std::string text;
};

Json plan_value(const PlanValue& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

/// Turns fields into JSON.
class FieldWriter {
 public:
  template <class T>
  void operator()(const char* name, const T& value) {
    object_[name] = write(value);
  }
  template <class T>
  void optional(const char* name, const T& value) {
    if (value != T{}) (*this)(name, value);
  }
  Json object_ = Json::object();

 private:
  template <class T>
  static Json write(const T& value) {
    return Json(value);
  }
  static Json write(StopReason value) { return Json(to_word(value)); }
  static Json write(Scaling value) { return Json(to_word(value)); }
  static Json write(CellStatus value) { return Json(to_word(value)); }
  static Json write(Outcome value) { return Json(to_word(value)); }
  static Json write(ReasonKind value) { return Json(to_word(value)); }
  template <class T>
  static Json write(const std::optional<T>& value) {
    return value ? write(*value) : Json(nullptr);
  }
  static Json write(const std::vector<Verdict>& checks) {
    return list_of(checks, [](auto& f, auto& v) { list_check(f, v); });
  }
  static Json write(const std::vector<CudaDevice>& devices) {
    return list_of(devices, [](auto& f, auto& v) { list_cuda_device(f, v); });
  }
  static Json write(const std::vector<GpuClocks>& gpus) {
    return list_of(gpus, [](auto& f, auto& v) { list_gpu_clocks(f, v); });
  }
  static Json write(const Clocks& value) {
    return nested(value, [](auto& f, auto& v) { list_clocks(f, v); });
  }
  static Json write(const Plan& plan) {
    Json axes = Json::object(), settings = Json::object();
    for (const auto& [name, values] : plan.axes) {
      axes[name] = Json::array();
      for (const PlanValue& value : values) axes[name].push_back(plan_value(value));
    }
    for (const auto& [name, value] : plan.settings) settings[name] = plan_value(value);
    return Json{{"axes", std::move(axes)}, {"settings", std::move(settings)}};
  }
  static Json write(const Interval& value) {
    return nested(value, [](auto& f, auto& v) { list_interval(f, v); });
  }
  static Json write(const Environment& value) {
    return nested(value, [](auto& f, auto& v) { list_environment(f, v); });
  }
  static Json write(const PhasesS& value) {
    return nested(value, [](auto& f, auto& v) { list_phases(f, v); });
  }
  static Json write(const Memory& value) {
    return nested(value, [](auto& f, auto& v) { list_memory(f, v); });
  }
  static Json write(const Measurement& value) {
    return nested(value, [](auto& f, auto& v) { list_measurement(f, v); });
  }

  template <class T, class List>
  static Json list_of(const std::vector<T>& values, List list) {
    Json objects = Json::array();
    for (const T& value : values) objects.push_back(nested(value, list));
    return objects;
  }
  template <class T, class List>
  static Json nested(const T& value, List list) {
    FieldWriter fields;
    list(fields, value);
    return std::move(fields.object_);
  }
};

/// Takes fields out of a JSON object: each must be there, have its type, and none may be left over.
class FieldReader {
 public:
  FieldReader(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object()) fail(path_, "an object", object);
  }

  template <class T>
  void operator()(const char* name, T& value) {
    const auto found = object_.find(name);
    const std::string field = path_.empty() ? name : path_ + "." + name;
    if (found == object_.end()) throw FieldError{fmt::format("field {} is missing", field)};
    known_.insert(name);
    read(*found, field, value);
  }

  template <class T>
  void optional(const char* name, T& value) {
    if (object_.contains(name)) (*this)(name, value);
  }

  /// "schema" and "kind" have been looked at by the caller.
  void skip(const char* name) { known_.insert(name); }

  void require_no_others() const {
    for (const auto& [name, value] : object_.items()) {
      if (known_.contains(name)) continue;
      throw FieldError{fmt::format("unknown field {}", path_.empty() ? name : path_ + "." + name)};
    }
  }

 private:
  [[noreturn]] static void fail(const std::string& field, const char* expected, const Json& found) {
    std::string text = found.dump();
    if (text.size() > 60) text = text.substr(0, 60) + "...";
    throw FieldError{fmt::format("field {}: expected {}, found {}", field, expected, text)};
  }

  static void read(const Json& json, const std::string& field, std::string& value) {
    if (!json.is_string()) fail(field, "text", json);
    value = json.get<std::string>();
  }
  static void read(const Json& json, const std::string& field, bool& value) {
    if (!json.is_boolean()) fail(field, "true or false", json);
    value = json.get<bool>();
  }
  static void read(const Json& json, const std::string& field, double& value) {
    if (!json.is_number()) fail(field, "a number", json);
    value = json.get<double>();
  }
  static void read(const Json& json, const std::string& field, std::int64_t& value) {
    if (!json.is_number_integer()) fail(field, "a whole number", json);
    if (json.is_number_unsigned() &&
        json.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
      fail(field, "a number below 2^63", json);
    }
    value = json.get<std::int64_t>();
  }
  static void read(const Json& json, const std::string& field, std::uint64_t& value) {
    if (!json.is_number_unsigned()) fail(field, "a whole number, not negative", json);
    value = json.get<std::uint64_t>();
  }
  template <class T>
  static void read(const Json& json, const std::string& field, std::optional<T>& value) {
    if (json.is_null()) return value.reset();
    read(json, field, value.emplace());
  }
  template <class T>
  static void read(const Json& json, const std::string& field, std::vector<T>& values) {
    if (!json.is_array()) fail(field, "a list", json);
    values.clear();
    for (const Json& element : json) {
      const std::string name = fmt::format("{}[{}]", field, values.size());
      read(element, name, values.emplace_back());
    }
  }
  template <class T>
  static void read(const Json& json, const std::string& field, std::map<std::string, T>& values) {
    if (!json.is_object()) fail(field, "an object", json);
    values.clear();
    for (const auto& [name, element] : json.items()) read(element, field + "." + name, values[name]);
  }
  static void read(const Json& json, const std::string& field, PlanValue& value) {
    if (json.is_string()) {
      value = json.get<std::string>();
    } else if (json.is_boolean()) {
      value = json.get<bool>();
    } else if (json.is_number_integer()) {
      read(json, field, value.emplace<std::int64_t>());
    } else if (json.is_number()) {
      value = json.get<double>();
    } else {
      fail(field, "text, a number, true or false", json);
    }
  }
  static void read(const Json& json, const std::string& field, Plan& plan) {
    FieldReader fields(json, field);
    Json axes, settings;
    fields("axes", axes);
    fields("settings", settings);
    fields.require_no_others();
    for (const auto& [name, values] : axes.items()) {
      read(values, field + ".axes." + name, plan.axes.emplace_back(name, std::vector<PlanValue>{}).second);
    }
    for (const auto& [name, value] : settings.items()) {
      read(value, field + ".settings." + name, plan.settings.emplace_back(name, PlanValue{}).second);
    }
  }
  static void read(const Json& json, const std::string& field, Json& object) {
    if (!json.is_object()) fail(field, "an object", json);
    object = json;
  }
  template <class T>
  static void read_word(const Json& json, const std::string& field, T (*from_word)(std::string_view),
                        T& value) {
    std::string word;
    read(json, field, word);
    try {
      value = from_word(word);
    } catch (const std::invalid_argument& error) {
      throw FieldError{fmt::format("field {}: {}", field, error.what())};
    }
  }
  static void read(const Json& json, const std::string& field, StopReason& value) {
    read_word(json, field, stop_reason_from_word, value);
  }
  static void read(const Json& json, const std::string& field, Scaling& value) {
    read_word(json, field, scaling_from_word, value);
  }
  static void read(const Json& json, const std::string& field, CellStatus& value) {
    read_word(json, field, cell_status_from_word, value);
  }
  static void read(const Json& json, const std::string& field, Outcome& value) {
    read_word(json, field, outcome_from_word, value);
  }
  static void read(const Json& json, const std::string& field, ReasonKind& value) {
    read_word(json, field, reason_kind_from_word, value);
  }
  static void read(const Json& json, const std::string& field, CudaDevice& value) {
    nested(json, field, value, [](auto& f, auto& v) { list_cuda_device(f, v); });
  }
  static void read(const Json& json, const std::string& field, GpuClocks& value) {
    nested(json, field, value, [](auto& f, auto& v) { list_gpu_clocks(f, v); });
  }
  static void read(const Json& json, const std::string& field, Clocks& value) {
    nested(json, field, value, [](auto& f, auto& v) { list_clocks(f, v); });
  }
  static void read(const Json& json, const std::string& field, Interval& value) {
    nested(json, field, value, [](auto& f, auto& v) { list_interval(f, v); });
  }
  static void read(const Json& json, const std::string& field, Environment& value) {
    nested(json, field, value, [](auto& f, auto& v) { list_environment(f, v); });
  }
  static void read(const Json& json, const std::string& field, PhasesS& value) {
    nested(json, field, value, [](auto& f, auto& v) { list_phases(f, v); });
  }
  static void read(const Json& json, const std::string& field, Memory& value) {
    nested(json, field, value, [](auto& f, auto& v) { list_memory(f, v); });
  }
  static void read(const Json& json, const std::string& field, Measurement& value) {
    nested(json, field, value, [](auto& f, auto& v) { list_measurement(f, v); });
  }
  static void read(const Json& json, const std::string& field, Verdict& value) {
    nested(json, field, value, [](auto& f, auto& v) { list_check(f, v); });
  }
  template <class T, class List>
  static void nested(const Json& json, const std::string& field, T& value, List list) {
    FieldReader fields(json, field);
    list(fields, value);
    fields.require_no_others();
  }

  const Json& object_;
  std::string path_;
  std::set<std::string> known_;
};

template <class T, class List>
std::string write_line(const char* kind, const T& record, List list) {
  validate(record);
  FieldWriter fields;
  fields("schema", kRecordSchema);
  fields("kind", std::string(kind));
  list(fields, record);
  // Text from outside (variables, error messages) may not be UTF-8: such bytes become U+FFFD.
  return fields.object_.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class T, class List>
T read_object(const Json& json, List list) {
  T record;
  FieldReader fields(json, "");
  fields.skip("schema");
  fields.skip("kind");
  list(fields, record);
  fields.require_no_others();
  validate(record);
  return record;
}

void require_of_schema_1(const CellRecord& cell) {
  const char* newer = !cell.evaluation.empty()                       ? "evaluation"
                      : cell.measurement && cell.measurement->clocks ? "measurement.clocks"
                      : cell.reason_kind == ReasonKind::kDisturbed   ? "reason_kind \"disturbed\""
                                                                     : nullptr;
  if (newer != nullptr) throw FieldError{fmt::format("unknown field {}: it came with schema 2", newer)};
}

Record read_record(const Json& json) {
  if (!json.is_object()) throw FieldError{"expected a JSON object"};
  const auto schema = json.find("schema");
  if (schema == json.end()) throw FieldError{"field schema is missing; this is no record of mirrorscale"};
  if (!schema->is_number_integer() || *schema < kOldestRecordSchema || *schema > kRecordSchema) {
    throw FieldError{fmt::format("schema {}; this program reads schemas {} to {}", schema->dump(),
                                 kOldestRecordSchema, kRecordSchema)};
  }
  const auto kind = json.find("kind");
  if (kind == json.end()) throw FieldError{"field kind is missing"};
  if (*kind == "run") return read_object<RunRecord>(json, [](auto& f, auto& r) { list_run(f, r); });
  if (*kind == "cell") {
    CellRecord cell = read_object<CellRecord>(json, [](auto& f, auto& r) { list_cell(f, r); });
    if (*schema == kOldestRecordSchema) require_of_schema_1(cell);
    return cell;
  }
  throw FieldError{fmt::format("kind {}; expected \"run\" or \"cell\"", kind->dump())};
}

}  // namespace

std::string to_json_line(const RunRecord& run) {
  return write_line("run", run, [](auto& f, auto& r) { list_run(f, r); });
}

std::string to_json_line(const CellRecord& cell) {
  return write_line("cell", cell, [](auto& f, auto& r) { list_cell(f, r); });
}

Record from_json_line(std::string_view line, const std::string& where) {
  try {
    return read_record(Json::parse(line));
  } catch (const FieldError& error) {
    throw std::runtime_error(fmt::format("{}: {}", where, error.text));
  } catch (const std::invalid_argument& error) {  // from validate
    throw std::runtime_error(fmt::format("{}: {}", where, error.what()));
  } catch (const Json::exception& error) {
    throw std::runtime_error(fmt::format("{}: not a record: {}", where, error.what()));
  }
}

std::string canonical_text(const Plan& plan) {
  nlohmann::json axes = nlohmann::json::object(), settings = nlohmann::json::object();  // ordered by name
  for (const auto& [name, values] : plan.axes) {
    axes[name] = nlohmann::json::array();
    for (const PlanValue& value : values) axes[name].emplace_back(plan_value(value));
  }
  for (const auto& [name, value] : plan.settings) settings[name] = plan_value(value);
  return nlohmann::json{{"axes", std::move(axes)}, {"settings", std::move(settings)}}.dump();
}

std::string plan_fingerprint(const Plan& plan) {
  return fingerprint(canonical_text(plan));
}

std::string json_library_version() {
  return fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                     NLOHMANN_JSON_VERSION_PATCH);
}

}  // namespace mirrorscale::harness
