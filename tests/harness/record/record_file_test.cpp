#include "harness/record/record_file.h"

#include "harness/output/file.h"
#include "harness/record/json.h"
#include "tests/harness/support/sample_records.h"
#include "tests/harness/support/temporary_folder.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mirrorscale::harness {
namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string refusal(const std::filesystem::path& path) {
  try {
    RecordFile file(path);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "accepted";
}

const std::string kRunLine = to_json_line(sample_run()) + '\n';
const std::string kCellLine = to_json_line(sample_cell()) + '\n';

TEST(RecordFile, CreatesFolderAppendsAndReadsBack) {
  const TemporaryFolder folder;
  const auto path = folder / "deep/er/records.jsonl";
  {
    RecordFile file(path);
    EXPECT_TRUE(file.records().runs.empty());
    file.append(sample_run());
    file.append(sample_cell("n=1"));
    EXPECT_EQ(read_records(path).cells.size(), 1u) << "readable while it is written";
    file.append(failed_cell("n=2"));
    file.append(sample_cell("n=2"));
    EXPECT_EQ(file.records().cells.size(), 3u);
    EXPECT_EQ(file.find_cell("n=2")->status, CellStatus::kOk) << "the last one counts";
    EXPECT_EQ(file.find_cell("n=4"), nullptr);
  }
  RecordFile again(path);
  EXPECT_EQ(again.records().runs, std::vector{sample_run()});
  EXPECT_EQ(again.records().cells, (std::vector{sample_cell("n=1"), failed_cell("n=2"), sample_cell("n=2")}));
}

TEST(RecordFile, TornLastLineIsDroppedAtEveryLength) {
  const TemporaryFolder folder;
  const auto path = folder / "records.jsonl";
  for (std::size_t length = 1; length < kCellLine.size(); length += length < 25 ? 1 : 97) {
    write(path, kRunLine + kCellLine + kCellLine.substr(0, length));
    EXPECT_EQ(read_records(path).torn_bytes, length);
    EXPECT_EQ(std::filesystem::file_size(path), kRunLine.size() + kCellLine.size() + length)
        << "a reader changes nothing";
    {
      RecordFile file(path);
      EXPECT_EQ(file.records().torn_bytes, length);
      EXPECT_EQ(file.records().cells.size(), 1u);
      EXPECT_EQ(std::filesystem::file_size(path), kRunLine.size() + kCellLine.size());
      file.append(sample_cell("n=8"));
    }
    EXPECT_EQ(read_file(path), kRunLine + kCellLine + to_json_line(sample_cell("n=8")) + '\n');
  }
}

TEST(RecordFile, ForeignContentIsRefusedAndLeftAsItIs) {
  const TemporaryFolder folder;
  const auto path = folder / "notes.txt";
  for (const std::string& foreign :
       {std::string("my notes"), std::string("my notes\n"), kRunLine + "my notes",
        kRunLine + "{\"schema\":3,\"kind\":\"cell\"}\n", kRunLine + "\n", std::string("{\"schema\":3,")}) {
    write(path, foreign);
    EXPECT_NE(refusal(path), "accepted") << foreign;
    EXPECT_EQ(read_file(path), foreign);
  }
  write(path, kRunLine + "{\"schema\":3,\"kind\":\"cell\"}\n" + kCellLine);
  EXPECT_EQ(refusal(path), path.string() + ":2: schema 3; this program reads schemas 1 to 2");
}

TEST(RecordFile, OneWriterAtATime) {
  const TemporaryFolder folder;
  const auto path = folder / "records.jsonl";
  {
    const RecordFile first(path);
    EXPECT_EQ(refusal(path),
              path.string() + " is being written by another process; wait for it or choose another file");
  }
  EXPECT_EQ(refusal(path), "accepted");
}

TEST(RecordFile, ACellNeedsItsRun) {
  const TemporaryFolder folder;
  RecordFile file(folder / "records.jsonl");
  EXPECT_THROW(file.append(sample_cell()), std::logic_error);
  file.append(sample_run());
  EXPECT_THROW(file.append(sample_cell("n=1", "run-2")), std::logic_error);
  CellRecord broken = sample_cell();
  broken.replicas = 0;
  EXPECT_THROW(file.append(broken), std::invalid_argument);
  EXPECT_EQ(read_file(file.path()), kRunLine) << "what is refused is not written";
}

TEST(RecordFile, PathsThatCannotBe) {
  const TemporaryFolder folder;
  EXPECT_NE(refusal(folder.path()), "accepted");
  write(folder / "file", "");
  EXPECT_NE(refusal(folder / "file/records.jsonl"), "accepted");
  EXPECT_THROW(read_records(folder / "missing.jsonl"), std::runtime_error);
}

// A full disk, as far as a process can have one to itself: a limit on the size of files.
TEST(RecordFile, FullDiskIsToldAndLeavesWholeLines) {
  const TemporaryFolder folder;
  const auto path = folder / "records.jsonl";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlim_t most = kRunLine.size() + kCellLine.size() + 100;
    const rlimit limit{.rlim_cur = most, .rlim_max = most};
    setrlimit(RLIMIT_FSIZE, &limit);
    RecordFile file(path);
    file.append(sample_run());
    file.append(sample_cell());
    try {
      file.append(sample_cell("n=4"));
    } catch (const std::runtime_error&) {
      _exit(file.records().cells.size() == 1 ? 0 : 2);
    }
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(path), kRunLine + kCellLine);
}

// A sweep killed at a random moment: whatever it got to disk is valid, and the next one goes on from there.
TEST(RecordFile, KilledInTheMiddleOfAppends) {
  const TemporaryFolder folder;
  const auto path = folder / "records.jsonl";
  std::size_t known = 0;
  for (int round = 0; round < 12; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      RecordFile file(path);
      if (file.records().runs.empty()) file.append(sample_run());
      for (int i = 0;; ++i)
        file.append(sample_cell("round " + std::to_string(round) + " cell " + std::to_string(i)));
    }
    usleep(static_cast<useconds_t>(15'000 + 1'700 * round));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself";
    if (!std::filesystem::exists(path)) continue;  // killed before it began
    const RecordSet records = read_records(path);
    EXPECT_GE(records.cells.size(), known);
    known = records.cells.size();
  }
  EXPECT_GT(known, 12u);
  EXPECT_EQ(RecordFile(path).records().cells.size(), known);
}

}  // namespace
}  // namespace mirrorscale::harness
