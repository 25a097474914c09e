#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mirrorscale::harness {

/// The grammar, as error messages and --help show it.
extern const std::string_view kAxisGrammar;

/// Whole numbers in the order given: items separated by commas, each a number, [first:last],
/// [first:last:step] or [first:last:*factor], ends included as far as the step reaches them, e.g. "1,2,4",
/// "[1:8]", "[1:9:2]", "[256:2048:*2]". Throws std::invalid_argument, quoting `text` and the place, for
/// anything else: values below `least`, repeats, a step that never arrives, more than 10,000 values.
std::vector<std::int64_t> parse_integer_axis(std::string_view name, std::string_view text,
                                             std::int64_t least = 1);

/// Names separated by commas: letters, digits and . _ : / + - = ; repeats and empty names are refused.
std::vector<std::string> parse_name_axis(std::string_view name, std::string_view text);

}  // namespace mirrorscale::harness
