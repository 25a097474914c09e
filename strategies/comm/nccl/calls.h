#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace mirrorscale::strategies::nccl {

/// One collective as every rank must call it.
struct Call {
  const char* op = "";
  std::size_t count = 0;   // floats
  std::size_t detail = 0;  // the root of a broadcast, the additions of a tree
  std::string text() const { return std::string(op) + " of " + std::to_string(count) + " floats"; }
};

/// Which collectives the ranks of this process have called, each in its own time: finds the rank that calls
/// another one than the others, and the rank that is late. Thread-safe.
class Calls {
 public:
  explicit Calls(int ranks) : called_(static_cast<std::size_t>(ranks)), joined_(called_.size(), false) {}
  void join(int rank);
  /// The next call of `rank`. Throws std::invalid_argument, which names two ranks and what each calls, if
  /// another rank's call with that number differs.
  void note(int rank, const Call& call);
  /// Which ranks have not come to join, as far as this process can see.
  std::string absent() const;
  /// Names the ranks that have called fewer collectives than others and the one each is expected at; empty if
  /// there is none.
  std::string late() const;

 private:
  struct Noted {
    Call call;
    int rank = 0;  // the first to call it
  };
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> called_;  // by rank
  std::vector<bool> joined_;
  std::deque<Noted> noted_;  // calls that some rank of this process hasn't made yet
  std::uint64_t first_ = 0;  // number of noted_.front()
};

}  // namespace mirrorscale::strategies::nccl
