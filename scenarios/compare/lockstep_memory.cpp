#include "scenarios/compare/lockstep_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mirrorscale::scenarios {
namespace {

std::runtime_error trouble(const char* what) {
  return std::runtime_error(std::string("[compare] shared memory: ") + what + ": " + std::strerror(errno));
}

}  // namespace

void set_text(LockstepSeat& seat, std::string_view text) {
  const std::size_t n = std::min(text.size(), sizeof seat.text - 1);
  std::memcpy(seat.text, text.data(), n);
  seat.text[n] = '\0';
}

SharedLockstep::SharedLockstep() : descriptor_(memfd_create("mirrorscale-compare", MFD_CLOEXEC)) {
  if (descriptor_ < 0) throw trouble("memfd_create");
  if (ftruncate(descriptor_, sizeof(LockstepMemory)) != 0) throw trouble("ftruncate");
  map();
  memory_ = new (memory_) LockstepMemory;
}

SharedLockstep::SharedLockstep(int descriptor) : descriptor_(descriptor) {
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) throw trouble("the worker was given no memory");
  if (status.st_size != static_cast<off_t>(sizeof(LockstepMemory))) {
    throw std::runtime_error("[compare] shared memory of " + std::to_string(status.st_size) +
                             " bytes; expected " + std::to_string(sizeof(LockstepMemory)) +
                             ": the two builds speak different protocols");
  }
  map();
  if (memory_->protocol != kLockstepProtocol || memory_->bytes != sizeof(LockstepMemory)) {
    throw std::runtime_error("[compare] protocol " + std::to_string(memory_->protocol) +
                             " is asked for; this build speaks " + std::to_string(kLockstepProtocol));
  }
}

void SharedLockstep::map() {
  void* place = mmap(nullptr, sizeof(LockstepMemory), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (place == MAP_FAILED) throw trouble("mmap");
  memory_ = static_cast<LockstepMemory*>(place);
}

SharedLockstep::~SharedLockstep() {
  if (memory_ != nullptr) munmap(memory_, sizeof(LockstepMemory));
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace mirrorscale::scenarios
