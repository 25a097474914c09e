// What is done to the sums of a product before they are stored. Included once a target.
#if defined(MIRRORSCALE_FINISH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MIRRORSCALE_FINISH_INL_H
#undef MIRRORSCALE_FINISH_INL_H
#else
#define MIRRORSCALE_FINISH_INL_H
#endif

#include "kernels/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {

// -0: what is added where there is no bias. x + -0 is x for every x, +0 would turn -0 into +0.
alignas(64) constexpr float kNoBias[kPanel] = {-0.0F, -0.0F, -0.0F, -0.0F, -0.0F, -0.0F, -0.0F, -0.0F,
                                               -0.0F, -0.0F, -0.0F, -0.0F, -0.0F, -0.0F, -0.0F, -0.0F};

/// f(sum + bias), or sum * f'(saved), or nothing where chains go on from what is there.
enum class Pass { kForward, kBackward, kContinue };

template <Pass kPass, Activation kFunction>
HWY_INLINE F32 finish(F32 sum, const float* bias, const float* saved) {
  if constexpr (kPass == Pass::kForward) {
    return activated<kFunction>(sum + load(bias));
  } else if constexpr (kFunction == Activation::kLinear) {
    return sum;
  } else {
    return times_derivative<kFunction>(sum, load(saved));
  }
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
