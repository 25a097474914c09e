#include "harness/output/table.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <stdexcept>

namespace mirrorscale::harness {
namespace {

/// Code points of UTF-8 text: bytes that do not continue one.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t to, Align align) {
  const std::string space(to - std::min(to, width(text)), ' ');
  return align == Align::kLeft ? text + space : space + text;
}

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return text;
}

std::string markdown_cell(const std::string& text) {
  std::string escaped;
  for (const char c : one_line(text)) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

using Rows = std::vector<std::vector<std::string>>;

/// Titles and rows, each cell passed through `change`.
Rows changed(const std::vector<Column>& columns, const Rows& rows,
             const std::function<std::string(std::string)>& change) {
  Rows all(1);
  for (const Column& column : columns) all.front().push_back(change(column.title));
  for (const auto& row : rows) {
    auto& copy = all.emplace_back();
    for (const std::string& cell : row) copy.push_back(change(cell));
  }
  return all;
}

std::vector<std::size_t> widths(const Rows& rows, std::size_t least) {
  std::vector<std::size_t> widest(rows.front().size(), least);
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widest[c] = std::max(widest[c], width(row[c]));
  }
  return widest;
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  if (columns_.empty()) throw std::invalid_argument("[Table] no columns");
}

void Table::add_row(std::vector<std::string> cells) {
  if (cells.size() != columns_.size()) {
    throw std::invalid_argument(
        fmt::format("[Table] a row of {} cells for {} columns", cells.size(), columns_.size()));
  }
  rows_.push_back(std::move(cells));
}

std::string Table::to_text() const {
  const Rows rows = changed(columns_, rows_, one_line);
  const std::vector<std::size_t> widest = widths(rows, 1);
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line, rule;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string gap = c == 0 ? "" : "  ";
      line += gap + padded(rows[r][c], widest[c], columns_[c].align);
      rule += gap + std::string(widest[c], '-');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    if (r == 0) text += rule + '\n';
  }
  return text;
}

std::string Table::to_markdown() const {
  const Rows rows = changed(columns_, rows_, markdown_cell);
  const std::vector<std::size_t> widest = widths(rows, 3);  // --: is the shortest rule
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line = "|", rule = "|";
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      line += " " + padded(rows[r][c], widest[c], columns_[c].align) + " |";
      rule += " " + std::string(widest[c] - 1, '-') + (columns_[c].align == Align::kRight ? ":" : "-") + " |";
    }
    text += line + '\n';
    if (r == 0) text += rule + '\n';
  }
  return text;
}

std::string Table::to_csv() const {
  std::string text;
  for (const auto& row : changed(columns_, rows_, csv_cell)) {
    for (std::size_t c = 0; c < row.size(); ++c) text += (c == 0 ? "" : ",") + row[c];
    text += "\r\n";
  }
  return text;
}

}  // namespace mirrorscale::harness
