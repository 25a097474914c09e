#pragma once
#include "kernels/cpu/tables.h"

/// The tables of the instruction set that Highway has chosen at the moment; all_tables() asks for each in
/// turn.
namespace mirrorscale::kernels::cpu {

/// Also the name and lanes of the instruction set.
Tables chosen_element_table();
const ProductTable* chosen_product_table();
const GradientTable* chosen_gradient_table();
const ConvolutionTable* chosen_convolution_table();
const ConvolutionGradientTable* chosen_convolution_gradient_table();
const ImageTable* chosen_image_table();
const RowsTable* chosen_rows_table();
const LayerNormTable* chosen_layer_norm_table();
const EmbeddingTable* chosen_embedding_table();
const AttentionTable* chosen_attention_table();
const LossTable* chosen_loss_table();
const ArenaTable* chosen_arena_table();

}  // namespace mirrorscale::kernels::cpu
