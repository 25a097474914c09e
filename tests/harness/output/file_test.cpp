#include "harness/output/file.h"

#include "harness/output/progress.h"
#include "tests/harness/support/temporary_folder.h"

#include <array>
#include <filesystem>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mirrorscale::harness {
namespace {

namespace fs = std::filesystem;

TEST(WriteFileAtomically, CreatesFoldersAndReplacesAll) {
  const TemporaryFolder folder;
  const auto path = folder / "a/b/out.json";
  write_file_atomically(path, "a long first text");
  EXPECT_EQ(read_file(path), "a long first text");
  write_file_atomically(path, std::string("two\0bytes", 9));
  EXPECT_EQ(read_file(path), std::string("two\0bytes", 9));
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 1) << "no temporary file is left";
}

TEST(WriteFileAtomically, FollowsALinkAndKeepsIt) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "real", "old");
  fs::create_symlink(folder / "real", folder / "link");
  write_file_atomically(folder / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "real"), "new");
}

TEST(WriteFileAtomically, RefusesWhatIsNoRegularFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(write_file_atomically(folder / "pipe", "x"), std::runtime_error);
  EXPECT_THROW(require_writable(folder / "pipe"), std::runtime_error);
  EXPECT_THROW(read_file(folder / "pipe"), std::runtime_error);
  EXPECT_TRUE(fs::is_fifo(folder / "pipe"));
}

TEST(RequireWritable, LeavesNothingBehind) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "kept", "as it was");
  require_writable(folder / "kept");
  require_writable(folder / "new");
  EXPECT_EQ(read_file(folder / "kept"), "as it was");
  EXPECT_FALSE(fs::exists(folder / "new"));
  EXPECT_EQ(std::distance(fs::directory_iterator((folder / "kept").parent_path()), {}), 1);
}

TEST(WriteFileAtomically, ModeIsThatOfAPlainFile) {
  const TemporaryFolder folder;
  const mode_t mask = umask(022);
  write_file_atomically(folder / "out", "x");
  umask(mask);
  struct stat info {};
  ASSERT_EQ(stat((folder / "out").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0644u);
}

TEST(WriteFileAtomically, FailureLeavesTheOldContentAndNoLitter) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "target/file", "inside");  // a folder that is not empty can't be replaced
  EXPECT_THROW(write_file_atomically(folder / "target", "x"), std::runtime_error);
  EXPECT_EQ(read_file(folder / "target/file"), "inside");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
  EXPECT_THROW(write_file_atomically(folder / "target/file/below", "x"), std::runtime_error);
}

// A full disk, as far as a process can have one to itself: a limit on the size of files.
TEST(WriteFileAtomically, FullDiskLeavesTheOldContentAndNoLitter) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "out", "old");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 1000, .rlim_max = 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_file_atomically(folder / "out", std::string(2000, 'x'));
    } catch (const std::runtime_error&) {
      _exit(0);
    }
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "no error was told";
  EXPECT_EQ(read_file(folder / "out"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

// Killed at random moments, a reader sees one whole text or the other.
TEST(WriteFileAtomically, KilledWriterLeavesAWholeFile) {
  const TemporaryFolder folder;
  const auto path = folder / "out";
  const std::string one(100'000, '1'), two(200'000, '2');
  write_file_atomically(path, one);
  for (int round = 0; round < 10; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (;;) {
        write_file_atomically(path, two);
        write_file_atomically(path, one);
      }
    }
    usleep(static_cast<useconds_t>(5'000 + 900 * round));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    const std::string found = read_file(path);
    EXPECT_TRUE(found == one || found == two) << found.size();
  }
}

TEST(ReadFile, SaysWhichFile) {
  const TemporaryFolder folder;
  try {
    read_file(folder / "missing");
    ADD_FAILURE();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("missing: No such file"), std::string::npos) << error.what();
  }
  EXPECT_THROW(read_file(folder.path()), std::runtime_error);
}

TEST(Progress, NothingInAPipeForAWhile) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  {
    ProgressLine line(file, 0, 1000);
    line.update("cell 1 of 9");
  }
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

TEST(Progress, PlainLinesInAPipeAfterThat) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  {
    ProgressLine line(file, 1000, 0);
    line.update("cell 1 of 9");
    line.update("cell 2 of 9");
  }
  std::rewind(file);
  std::string found(200, '\0');
  found.resize(std::fread(found.data(), 1, found.size(), file));
  EXPECT_EQ(found, "[0 s] cell 1 of 9\n[0 s] cell 2 of 9\n");
  std::fclose(file);
}

TEST(Progress, RewritesOneLineOnATerminal) {
  int master = -1, slave = -1;
  if (openpty(&master, &slave, nullptr, nullptr, nullptr) != 0) GTEST_SKIP() << "no pseudo-terminal here";
  std::FILE* terminal = fdopen(slave, "w");
  {
    ProgressLine line(terminal, 1000);
    line.update("first");
    line.update("too soon");
  }
  const std::string expected = "\r\x1b[Kfirst\r\x1b[K";
  std::string found;
  // The kernel may hand it over in parts.
  for (std::array<char, 256> part{}; found.size() < expected.size();) {
    const ssize_t got = read(master, part.data(), part.size());
    ASSERT_GT(got, 0) << found;
    found.append(part.data(), static_cast<std::size_t>(got));
  }
  EXPECT_EQ(found, expected);
  std::fclose(terminal);
  close(master);
}

}  // namespace
}  // namespace mirrorscale::harness
