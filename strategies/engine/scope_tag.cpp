#include "strategies/engine/scope_tag.h"

#include <utility>

namespace mirrorscale::strategies {
namespace {

thread_local ScopeTag current{0, "no scope"};

}  // namespace

const ScopeTag& current_scope() {
  return current;
}

ScopeTag internal::exchange_current_scope(ScopeTag next) {
  return std::exchange(current, std::move(next));
}

}  // namespace mirrorscale::strategies
