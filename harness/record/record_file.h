#pragma once
#include "harness/record/record.h"

#include <cstddef>
#include <filesystem>
#include <vector>

namespace mirrorscale::harness {

struct RecordSet {
  std::vector<RunRecord> runs;
  std::vector<CellRecord> cells;
  std::size_t torn_bytes = 0;  // of a last line that was cut short; dropped
};

/// Reads a record file that someone may be writing. Throws std::runtime_error for a file that is missing, or
/// whose content is not records (with line number and field).
RecordSet read_records(const std::filesystem::path& path);

/// Appends records to a file; each is on the disk when append returns. One writer a file at a time.
class RecordFile {
 public:
  /// Creates folder and file if need be, takes the file's lock, reads what is there and cuts off a torn last
  /// line. Throws std::runtime_error when another process writes it, or its content is not records: such a
  /// file is left as it is.
  explicit RecordFile(std::filesystem::path path);
  ~RecordFile();
  RecordFile(RecordFile&&) = delete;

  void append(const RunRecord& run);
  /// Throws std::logic_error when no run record with the cell's run_id is in the file.
  void append(const CellRecord& cell);

  /// What was in the file when it was opened, and what was appended since.
  const RecordSet& records() const { return records_; }
  /// The last cell with this key, or null.
  const CellRecord* find_cell(const std::string& cell_key) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  void append_line(const std::string& line);

  std::filesystem::path path_;
  int descriptor_ = -1;
  RecordSet records_;
};

}  // namespace mirrorscale::harness
