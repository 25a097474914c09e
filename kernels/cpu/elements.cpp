// The element functions over arrays, for checks.
#include "kernels/cpu/parts.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/elements.cpp"
// foreach_target.h comes before highway.h, so:
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {
namespace {

template <F32 (*kFunction)(F32)>
void map(std::size_t count, const float* in, float* out) {
  for (std::size_t i = 0; i < count; i += kLanes) store(kFunction(load(in + i)), out + i);
}

const ElementTable kTable = {&map<exp<F32>>, &map<log<F32>>,     &map<tanh<F32>>,
                             &map<erf<F32>>, &map<sigmoid<F32>>, &map<activated<Activation::kGelu, F32>>};

}  // namespace

Tables element_table() {
  Tables tables;
  tables.target = hwy::TargetName(HWY_TARGET);
  tables.lanes = kLanes;
  tables.elements = &kTable;
  return tables;
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mirrorscale::kernels::cpu {
HWY_EXPORT(element_table);
Tables chosen_element_table() {
  return HWY_DYNAMIC_DISPATCH(element_table)();
}
}  // namespace mirrorscale::kernels::cpu
#endif
