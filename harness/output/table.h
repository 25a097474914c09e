#pragma once
#include <string>
#include <vector>

namespace mirrorscale::harness {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kRight;
};

/// A table of text cells, plain ASCII frame. Width is counted in code points, so ± and × are fine.
class Table {
 public:
  explicit Table(std::vector<Column> columns);
  /// Throws std::invalid_argument when the number of cells is not the number of columns.
  void add_row(std::vector<std::string> cells);
  /// Aligned columns, two spaces apart, a line of dashes below the titles; every line ends in a newline.
  std::string to_text() const;
  /// GitHub Markdown, aligned in the source as well; | is escaped, a newline becomes a space.
  std::string to_markdown() const;
  /// RFC 4180, titles first.
  std::string to_csv() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace mirrorscale::harness
