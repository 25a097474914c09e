#include "strategies/input/npy_header.h"

#include "strategies/input/data_error.h"

#include <charconv>

namespace mirrorscale::strategies {
namespace {

/// A literal of Python reduced to what NumPy writes here: a dictionary of a text, a truth value and a tuple.
class Parser {
 public:
  Parser(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    need('{');
    while (!take('}')) {
      const std::string key = quoted();
      need(':');
      if (key == "descr" && !has_descr) {
        header.descr = element_type();
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        header.fortran_order = truth();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        header.shape = tuple();
        has_shape = true;
      } else {
        refuse("key '" + key + "' in the header");
      }
      if (!take(',')) {
        need('}');
        break;
      }
    }
    skip_space();
    if (!text_.empty()) refuse("text behind the header's dictionary");
    if (!has_descr || !has_order || !has_shape) refuse("an incomplete header");
    return header;
  }

 private:
  [[noreturn]] void refuse(const std::string& found) const {
    throw DataError(source_, found, "a header with descr, fortran_order and shape as NumPy writes it");
  }

  void skip_space() {
    const auto at = text_.find_first_not_of(" \t\n\r");
    text_.remove_prefix(at == std::string_view::npos ? text_.size() : at);
  }
  bool take(char wanted) {
    skip_space();
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  void need(char wanted) {
    if (take(wanted)) return;
    refuse((text_.empty() ? "the end of the header" : "'" + std::string(text_.substr(0, 12)) + "'") +
           " where '" + wanted + "' belongs");
  }

  std::string quoted() {
    const char mark = take('\'') ? '\'' : '"';
    if (mark == '"') need('"');
    const auto end = text_.find(mark);
    if (end == std::string_view::npos) refuse("a text without end in the header");
    std::string value(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return value;
  }

  std::string element_type() {
    skip_space();
    if (!text_.empty() && text_.front() == '[') {
      throw DataError(source_, "a structured element type (a record array)", "plain numbers");
    }
    return quoted();
  }

  bool truth() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return value;
    }
    refuse("neither True nor False for fortran_order");
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> sizes;
    need('(');
    while (!take(')')) {
      skip_space();
      std::int64_t size = 0;
      const auto [end, failed] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (failed != std::errc() || size < 0) refuse("a shape that is no list of sizes");
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      sizes.push_back(size);
      if (!take(',')) {
        need(')');
        break;
      }
    }
    return sizes;
  }

  std::string_view text_;
  const std::string& source_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& source) {
  return Parser(text, source).parse();
}

}  // namespace mirrorscale::strategies
