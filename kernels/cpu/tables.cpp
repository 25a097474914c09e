#include "kernels/cpu/tables.h"

#include "kernels/cpu/parts.h"

#include "hwy/targets.h"

namespace mirrorscale::kernels::cpu {
namespace {

std::vector<Tables> collect() {
  std::vector<Tables> found;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    Tables tables = chosen_element_table();
    tables.product = chosen_product_table();
    tables.gradient = chosen_gradient_table();
    tables.convolution = chosen_convolution_table();
    tables.convolution_gradient = chosen_convolution_gradient_table();
    tables.images = chosen_image_table();
    tables.rows = chosen_rows_table();
    tables.layer_norm = chosen_layer_norm_table();
    tables.embedding = chosen_embedding_table();
    tables.attention = chosen_attention_table();
    tables.losses = chosen_loss_table();
    tables.arenas = chosen_arena_table();
    found.push_back(tables);
  }
  hwy::SetSupportedTargetsForTest(0);  // forget the choice
  return found;
}

}  // namespace

const std::vector<Tables>& all_tables() {
  // Never destroyed: a thread that a team had to leave behind may still compute while the process ends.
  static const std::vector<Tables>& tables = *new std::vector<Tables>(collect());
  return tables;
}

}  // namespace mirrorscale::kernels::cpu
