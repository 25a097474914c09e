#pragma once
#include "scenarios/baseline/launches.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// Where a baseline comes from; the first line of its file.
struct BaselineHeader {
  std::string id, saved;  // unique; ISO 8601, UTC
  std::vector<std::string> command;
  std::string version, git_revision;  // of the program that saved it
  std::string measured_revision;      // of the programs that were measured, "a, b" where they differ
  std::string note;
  std::string machine, machine_fingerprint, plan, plan_fingerprint;  // in words, and their fingerprints
  std::int64_t launches = 0, cells = 0;
  std::string content_sha256;  // of this line without this field, and of all that follows
};

struct Baseline {
  BaselineHeader header;
  std::vector<Launch> launches;  // in order of time
  std::filesystem::path path;
};

/// A baseline that can't be used any more, and why.
struct DamagedBaseline {
  std::filesystem::path path;
  std::string reason;
};

/// Accepted launches by machine and plan: a folder with a file a baseline,
/// STORE/MACHINE_FINGERPRINT/PLAN_FINGERPRINT/ID.baseline.jsonl. Files are written whole or not at all and
/// never changed; the newest of a machine and plan is the one that counts. docs/gate.md has the format.
class BaselineStore {
 public:
  explicit BaselineStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Launches must be alike (require_alike). Returns what was written.
  Baseline save(std::vector<Launch> launches, const std::string& note,
                const std::vector<std::string>& command) const;

  /// Oldest first. A file that was changed since it was saved is put into `damaged`.
  std::vector<Baseline> all(std::vector<DamagedBaseline>& damaged) const;

  /// Whose id begins so. Throws std::invalid_argument where none or several do, std::runtime_error where its
  /// file was changed.
  Baseline find(const std::string& id) const;

  /// The newest of this machine and plan; empty where there is none. Throws std::runtime_error where its file
  /// was changed: an older one must not take its place in silence.
  std::optional<Baseline> newest(const std::string& machine_fingerprint,
                                 const std::string& plan_fingerprint) const;

  /// The newest of this plan, on whatever machine; as newest.
  std::optional<Baseline> newest_of_plan(const std::string& plan_fingerprint) const;
  /// Removes all but the newest `keep` good ones of each machine and plan; returns their files. Damaged ones
  /// are neither counted nor removed; they are added to `damaged`.
  std::vector<std::filesystem::path> prune(int keep, std::vector<DamagedBaseline>& damaged) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::vector<std::filesystem::path> files() const;
  std::filesystem::path folder_;
};

/// Reads and checks one file. Throws std::runtime_error.
Baseline read_baseline(const std::filesystem::path& path);

}  // namespace mirrorscale::scenarios
