#pragma once
#include "scenarios/workloads/workload.h"

namespace mirrorscale::scenarios {

// One file each. A new workload is a file, a line here, and a line in registry.cpp.
Workload binary_workload();
Workload cnn_workload();
Workload lenet_workload();
Workload mlp_workload();
Workload mlp_small_workload();
Workload regression_workload();
Workload softmax_regression_workload();
Workload transformer_workload();
Workload transformer_small_workload();
Workload vgg_workload();
Workload vgg_small_workload();

/// The shape, if it has classes. Throws std::invalid_argument that names the workload and the data it can
/// learn from.
RowShape require_classes(const char* workload, const RowShape& shape);
/// The shape, if it is of images and has classes.
RowShape require_images(const char* workload, const RowShape& shape);
/// The shape, if it has numeric targets.
RowShape require_targets(const char* workload, const RowShape& shape);

}  // namespace mirrorscale::scenarios
