#include "harness/record/record_file.h"

#include "harness/output/file.h"
#include "harness/record/json.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdexcept>
#include <string_view>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace mirrorscale::harness {
namespace {

[[noreturn]] void fail(const char* doing, const std::filesystem::path& path) {
  const int error = errno;
  throw std::runtime_error(fmt::format("can't {} {}: {}", doing, path.string(), std::strerror(error)));
}

/// Every record begins so, hence a torn one does as far as it goes; anything else is not ours to drop.
bool is_torn_record(std::string_view tail) {
  for (int schema = kOldestRecordSchema; schema <= kRecordSchema; ++schema) {
    const std::string start = fmt::format("{{\"schema\":{},\"kind\":\"", schema);
    const std::size_t known = std::min(tail.size(), start.size());
    if (tail.substr(0, known) == start.substr(0, known)) return true;
  }
  return false;
}

RecordSet parse(std::string_view content, const std::filesystem::path& path) {
  RecordSet set;
  for (int line_number = 1; !content.empty(); ++line_number) {
    const std::string where = fmt::format("{}:{}", path.string(), line_number);
    const std::size_t end = content.find('\n');
    if (end == std::string_view::npos) {
      if (!is_torn_record(content)) {
        throw std::runtime_error(where + ": not a record file of mirrorscale; the file is left as it is");
      }
      set.torn_bytes = content.size();
      break;
    }
    Record record = from_json_line(content.substr(0, end), where);
    if (auto* run = std::get_if<RunRecord>(&record)) set.runs.push_back(std::move(*run));
    if (auto* cell = std::get_if<CellRecord>(&record)) set.cells.push_back(std::move(*cell));
    content.remove_prefix(end + 1);
  }
  return set;
}

}  // namespace

RecordSet read_records(const std::filesystem::path& path) {
  return parse(read_file(path), path);
}

RecordFile::RecordFile(std::filesystem::path path) : path_(std::move(path)) {
  const std::filesystem::path folder = make_parent_folder(path_);
  std::error_code error;
  if (std::filesystem::exists(path_, error) && !std::filesystem::is_regular_file(path_, error)) {
    throw std::runtime_error(fmt::format("can't write records to {}: it is no regular file", path_.string()));
  }
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("open", path_);
  try {
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) fail("lock", path_);
      throw std::runtime_error(fmt::format(
          "{} is being written by another process; wait for it or choose another file", path_.string()));
    }
    sync_folder(folder);
    const std::string content = read_file(path_);
    records_ = parse(content, path_);
    if (records_.torn_bytes > 0) {
      if (ftruncate(descriptor_, static_cast<off_t>(content.size() - records_.torn_bytes)) != 0)
        fail("mend", path_);
      if (fsync(descriptor_) != 0) fail("flush", path_);
    }
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

RecordFile::~RecordFile() {
  close(descriptor_);
}

void RecordFile::append(const RunRecord& run) {
  append_line(to_json_line(run));
  records_.runs.push_back(run);
}

void RecordFile::append(const CellRecord& cell) {
  if (std::ranges::find(records_.runs, cell.run_id, &RunRecord::run_id) == records_.runs.end()) {
    throw std::logic_error(fmt::format("[RecordFile] cell {} belongs to run {}, which is not in {}",
                                       cell.cell_key, cell.run_id, path_.string()));
  }
  append_line(to_json_line(cell));
  records_.cells.push_back(cell);
}

const CellRecord* RecordFile::find_cell(const std::string& cell_key) const {
  const auto& cells = records_.cells;
  const auto found = std::find_if(cells.rbegin(), cells.rend(),
                                  [&](const CellRecord& cell) { return cell.cell_key == cell_key; });
  return found == cells.rend() ? nullptr : &*found;
}

void RecordFile::append_line(const std::string& line) {
  const off_t before = lseek(descriptor_, 0, SEEK_END);
  if (before < 0) fail("seek in", path_);
  const std::string text = line + '\n';
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      // A full disk must not leave half a line behind for the next append to continue.
      const int error = errno;
      const bool mended = ftruncate(descriptor_, before) == 0;
      errno = error;
      fail(mended ? "append to" : "append to (its last line is cut short)", path_);
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(descriptor_) != 0) fail("flush", path_);
}

}  // namespace mirrorscale::harness
