#pragma once
namespace mirrorscale::strategies {

/// A limit on the gradient of the global batch: after the reduction, the division by the batch and the
/// penalties, so that it does not depend on the number of replicas.
///   kValue       each element into -limit .. limit
///   kNorm        each parameter's gradient times limit / max(its Euclidean norm, limit)
///   kGlobalNorm  all gradients times limit / max(their joint Euclidean norm, limit)
/// Norms are rooted and divided in double, from a float sum of squares in a fixed order (docs/exact.md).
struct Clipping {
  enum class Kind { kNone, kValue, kNorm, kGlobalNorm };
  Kind kind = Kind::kNone;
  double limit = 0;

  bool active() const { return kind != Kind::kNone; }
  bool wants_norms() const { return kind == Kind::kNorm || kind == Kind::kGlobalNorm; }
  /// The limit of each element; 0 where elements aren't limited.
  float element_limit() const { return kind == Kind::kValue ? static_cast<float>(limit) : 0.0F; }
  bool operator==(const Clipping&) const = default;
};

}  // namespace mirrorscale::strategies
