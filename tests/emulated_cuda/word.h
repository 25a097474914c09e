#pragma once

#include <cstdint>
#include <utility>

namespace mirrorscale::emulated_cuda {

/// An atomic number that threads can sleep on. Not std::atomic and not std::mutex: what they inline into the
/// caller's instrumented objects would order things that CUDA leaves unordered.
class Word {
 public:
  constexpr Word() = default;
  constexpr explicit Word(std::uint32_t value) : value_(value) {}
  std::uint32_t load() const { return __atomic_load_n(&value_, __ATOMIC_SEQ_CST); }
  void store(std::uint32_t value) { __atomic_store_n(&value_, value, __ATOMIC_SEQ_CST); }
  std::uint32_t exchange(std::uint32_t value) {
    return __atomic_exchange_n(&value_, value, __ATOMIC_SEQ_CST);
  }
  /// The value before.
  std::uint32_t add(std::uint32_t more) { return __atomic_fetch_add(&value_, more, __ATOMIC_SEQ_CST); }
  bool replace(std::uint32_t expected, std::uint32_t value) {
    return __atomic_compare_exchange_n(&value_, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  }
  /// Sleeps while the value is `seen`, but at most `limit_ms` (0: for ever); may wake for nothing.
  void sleep_while(std::uint32_t seen, unsigned limit_ms = 0);
  void wake_all();
  void store_and_wake(std::uint32_t value) {
    store(value);
    wake_all();
  }

 private:
  std::uint32_t value_ = 0;
  std::uint32_t sleepers_ = 0;
};

/// A lock for some instructions' time, unseen by ThreadSanitizer.
class Lock {
 public:
  void lock();
  void unlock();

 private:
  Word state_;
};

class Guard {
 public:
  explicit Guard(Lock& lock) : lock_(lock) { lock_.lock(); }
  ~Guard() { lock_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Lock& lock_;
};

/// What Ref counts. std::shared_ptr would do, were its counter not compiled into the caller's objects as
/// well.
struct Counted {
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  mutable Word owners;
};

template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(T* target) : target_(target) {  // NOLINT(google-explicit-constructor): as raw pointers convert
    if (target_) target_->owners.add(1);
  }
  Ref(const Ref& other) : Ref(other.target_) {}
  template <class U>
  Ref(const Ref<U>& other) : Ref(other.get()) {}  // NOLINT(google-explicit-constructor)
  Ref(Ref&& other) noexcept : target_(std::exchange(other.target_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(target_, other.target_);
    return *this;
  }
  ~Ref() {
    if (target_ && target_->owners.add(~0u) == 1) delete target_;
  }
  T* get() const { return target_; }
  T* operator->() const { return target_; }
  T& operator*() const { return *target_; }
  explicit operator bool() const { return target_ != nullptr; }

 private:
  T* target_ = nullptr;
};

template <class T, class... A>
Ref<T> make_ref(A&&... arguments) {
  return Ref<T>(new T{std::forward<A>(arguments)...});
}

}  // namespace mirrorscale::emulated_cuda
