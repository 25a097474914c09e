#pragma once

namespace mirrorscale::kernels {

/// What an optimizer step does to a gradient sum before it uses it:
/// g = scale * sum + 2 * l2 * w + l1 * sign(w), in this order: t = scale * sum; t = fma(2 * l2, w, t);
/// t = t + l1 * sign(w), sign(0) = 0; a term whose factor is 0 is left out.
struct GradientTerms {
  float scale = 1;  // 1 / (rows, or summed sample weights, of the global batch)
  float l1 = 0, l2 = 0;
};

/// Stochastic gradient descent as in Keras.
///   momentum = 0:  w = fma(-rate, g, w)
///   else           m = fma(momentum, m, -(rate * g));  w = w + m
///   nesterov       m as above;  w = w + fma(momentum, m, -(rate * g))
/// Decoupled weight decay as Adam's.
struct Sgd {
  GradientTerms terms;
  float rate = 0.01F, momentum = 0;
  bool nesterov = false;
  float decay = 0;
};

/// Adam as in Keras (Kingma & Ba 2015, the form with epsilon outside of the bias correction):
///   m = fma(g - m, one_minus_beta1, m);  v = fma(g * g - v, one_minus_beta2, v)
///   w = w - (step_rate * m) / (sqrt(v) + epsilon)
/// step_rate = rate * sqrt(1 - beta2^t) / (1 - beta1^t) is computed in double by the caller.
/// Decoupled weight decay (AdamW, Loshchilov & Hutter 2019) comes first: w = fma(-decay, w, w) with
/// decay = rate * weight_decay; left out when 0.
struct Adam {
  GradientTerms terms;
  float step_rate = 0, one_minus_beta1 = 0.1F, one_minus_beta2 = 0.001F, epsilon = 1e-7F, decay = 0;
};

/// AMSGrad (Reddi et al. 2018) is Adam with the largest v so far in v's place in the divisor:
/// largest = max(largest, v).

/// RMSprop as in Keras (Hinton; centred: Graves 2013):
///   v = fma(g * g - v, one_minus_rho, v)
///   centred   a = fma(g - a, one_minus_rho, a);  d = max(v - a * a, 0), else d = v
///   p = rate * g / sqrt(d + epsilon)
///   momentum  m = fma(momentum, m, p);  w = w - m, else w = w - p
struct RmsProp {
  GradientTerms terms;
  float rate = 0.001F, one_minus_rho = 0.1F, momentum = 0, epsilon = 1e-7F;
};

/// Adagrad as in Keras (Duchi et al. 2011): a = fma(g, g, a);  w = w - rate * g / sqrt(a + epsilon).
struct Adagrad {
  GradientTerms terms;
  float rate = 0.001F, epsilon = 1e-7F;
};

/// The direction of a LAMB step (You et al. 2020, algorithm 2 with the identity as phi):
///   m and v as Adam's;  u = (mean_factor * m) / (sqrt(square_factor * v) + epsilon)
///   u = fma(weight_decay, w, u), left out when 0
/// mean_factor = 1 / (1 - beta1^t) and square_factor = 1 / (1 - beta2^t) are computed in double by the
/// caller. The step itself is plain descent along u, at rate * |w| / |u|.
struct Lamb {
  GradientTerms terms;
  float one_minus_beta1 = 0.1F, one_minus_beta2 = 0.001F, mean_factor = 1, square_factor = 1, epsilon = 1e-7F,
        weight_decay = 0;
};

/// An average of weights over steps: a = fma(w - a, one_minus_momentum, a).

}  // namespace mirrorscale::kernels
