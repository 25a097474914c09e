#include "scenarios/cells/cell.h"

#include <gtest/gtest.h>

namespace mirrorscale::scenarios {
namespace {

CellSpec small_cell() {
  CellSpec cell;
  cell.workload = "mlp-small";
  cell.data = "clusters";
  cell.optimizer = "adam";
  cell.devices = 2;
  cell.global_batch = 48;
  return cell;
}

// Records that were written before there were GPUs must still be found by their keys.
TEST(CellKey, OfTheHostIsWhatItWas) {
  CellSpec cell = small_cell();
  EXPECT_EQ(
      cell.key(),
      "mlp-small/data=clusters/optimizer=adam/seed=1/backend=cpu/reduction=fused/strong/global_batch=48/"
      "devices=2");
  cell.scaling = harness::Scaling::kWeak;
  cell.backend = "reference";
  cell.reduction = "replicated";
  EXPECT_EQ(cell.key(),
            "mlp-small/data=clusters/optimizer=adam/seed=1/backend=reference/reduction=replicated/weak/"
            "local_batch=24/devices=2");
}

TEST(CellKey, OfGpusNamesWhatChangesTheirBits) {
  CellSpec cell = small_cell();
  cell.backend = "cuda";
  cell.numerics = "fast";
  cell.precision = "tf32";
  cell.reduction = "bucketed";
  EXPECT_EQ(cell.key(),
            "mlp-small/data=clusters/optimizer=adam/seed=1/backend=cuda/reduction=bucketed/numerics=fast/"
            "precision=tf32/cross_device_ops=default/strong/global_batch=48/devices=2");
  cell.graphs = cell.registered_buffers = true;
  EXPECT_NE(cell.key().find("/cross_device_ops=default/graphs/registered_buffers/strong/"),
            std::string::npos);
}

TEST(CellSeries, IsEqualForOtherBatchesOnly) {
  const CellSpec cell = small_cell();
  CellSpec other = cell;
  other.global_batch = 96;
  EXPECT_EQ(cell.series(), other.series());
  other.devices = 3;
  EXPECT_NE(cell.series(), other.series());
  other = cell;
  other.scaling = harness::Scaling::kWeak;
  EXPECT_NE(cell.series(), other.series());
}

TEST(OnOneCpu, KeepsWhatIsTrained) {
  CellSpec cell = small_cell();
  CellSpec expected = cell;
  expected.devices = 1;
  cell.backend = "cuda";
  cell.reduction = "replicated";
  cell.cross_device_ops = "nccl";
  cell.graphs = cell.registered_buffers = true;
  EXPECT_EQ(on_one_cpu(cell).key(), expected.key());
}

}  // namespace
}  // namespace mirrorscale::scenarios
