#pragma once
#include <cstdint>
#include <string>

namespace mirrorscale::strategies {

/// Which strategy's scope something was made in. Id 0 is "outside of any scope", the default strategy.
struct ScopeTag {
  std::uint64_t id = 0;
  std::string name;  // of the strategy, for messages
};

/// The scope this thread is in right now. Set by strategies/scope.h alone.
const ScopeTag& current_scope();

/// Base of the things that must be made in the scope of the model they are used with: optimizers and metrics.
class MadeInScope {
 public:
  const ScopeTag& scope() const { return scope_; }

 private:
  ScopeTag scope_ = current_scope();
};

namespace internal {
ScopeTag exchange_current_scope(ScopeTag next);
}  // namespace internal

}  // namespace mirrorscale::strategies
