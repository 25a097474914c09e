#pragma once
#include "strategies/input/dataset.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// A data set by name, for help texts.
struct DataSourceInfo {
  std::string name, description;
};
const std::vector<DataSourceInfo>& data_sources();

/// Loads training and test rows. `source`: a name of data_sources(), a folder with IDX files, a .npz file,
/// two .npy files joined by a comma, or text:FILE (any file, in windows of 128 bytes; text:FILE@32 in windows
/// of 32). `seed` makes synthetic data. The same source and seed in one process is loaded once. Throws
/// strategies::DataError (data that is missing or wrong) or std::invalid_argument (a source that is none).
strategies::SplitDataset load_data(const std::string& source, std::uint64_t seed);

}  // namespace mirrorscale::scenarios
