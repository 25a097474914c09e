#include "scenarios/workloads/data_source.h"

#include "scenarios/workloads/labels_as_targets.h"
#include "strategies/input/data_error.h"
#include "strategies/input/idx.h"
#include "strategies/input/numpy_dataset.h"
#include "strategies/input/synthetic.h"

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace mirrorscale::scenarios {
namespace {

using strategies::SplitDataset;

SplitDataset fashion_mnist() {
  const auto folder = strategies::find_fashion_mnist();
  if (folder) return strategies::load_idx(*folder);
  throw strategies::DataError("fashion-mnist", "no data set on this machine",
                              "the files of Debian's package dataset-fashion-mnist (apt-get install "
                              "dataset-fashion-mnist), or MIRRORSCALE_DATA set to a folder with them");
}

SplitDataset two_clusters(std::uint64_t seed) {
  const SplitDataset made =
      strategies::make_clusters({.rows = {4096, 1024}, .classes = 2, .seed = seed, .noise = 2});
  return {labels_as_targets(made.train, "two-clusters"), labels_as_targets(made.test, "two-clusters")};
}

struct Source {
  DataSourceInfo info;
  std::function<SplitDataset(std::uint64_t seed)> load;
};

const std::vector<Source>& sources() {
  using namespace strategies;
  static const std::vector<Source> all{
      {{"clusters", "synthetic: 4096 + 1024 rows of 20 features, 10 classes around random centres"},
       [](std::uint64_t seed) {
         return make_clusters({.rows = {4096, 1024}, .seed = seed, .noise = 2});
       }},
      {{"fashion-mnist",
        "60000 + 10000 pictures of clothes, 28 x 28, 10 classes (Debian: dataset-fashion-mnist)"},
       [](std::uint64_t) { return fashion_mnist(); }},
      {{"fashion-twin", "synthetic, of the shape of fashion-mnist, for machines without it"},
       [](std::uint64_t seed) {
         return make_fashion_twin({60000, 10000}, seed);
       }},
      {{"identity",
        "synthetic: 256 rows; all 20 features and the target of row i are i, so that rows can be recognised"},
       [](std::uint64_t) {
         return SplitDataset{make_identity_rows(256, 20, 1), nullptr};
       }},
      {{"line", "synthetic: 1024 + 256 rows of y = 3 x"},
       [](std::uint64_t seed) {
         return make_line({1024, 256}, seed);
       }},
      {{"two-clusters", "synthetic: 4096 + 1024 rows of 20 features, a target of 0 or 1"}, two_clusters}};
  return all;
}

SplitDataset load(const std::string& source, std::uint64_t seed) {
  std::string known;
  for (const Source& candidate : sources()) {
    if (candidate.info.name == source) return candidate.load(seed);
    known += candidate.info.name + ", ";
  }
  if (const std::size_t comma = source.find(','); comma != std::string::npos) {
    return {strategies::load_npy_pair(source.substr(0, comma), source.substr(comma + 1)), nullptr};
  }
  if (source.ends_with(".npz")) return strategies::load_npz(source);
  if (source.find('/') != std::string::npos || std::filesystem::is_directory(source)) {
    return strategies::load_idx(source);
  }
  throw std::invalid_argument("no data source '" + source + "'; there are: " + known +
                              "a folder with IDX files, a .npz file, or x.npy,y.npy");
}

}  // namespace

const std::vector<DataSourceInfo>& data_sources() {
  static const std::vector<DataSourceInfo> all = [] {
    std::vector<DataSourceInfo> infos;
    for (const Source& source : sources()) infos.push_back(source.info);
    return infos;
  }();
  return all;
}

SplitDataset load_data(const std::string& source, std::uint64_t seed) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::uint64_t>, SplitDataset> loaded;
  const std::lock_guard lock(mutex);
  const auto key = std::make_pair(source, seed);
  if (const auto found = loaded.find(key); found != loaded.end()) return found->second;
  return loaded.emplace(key, load(source, seed)).first->second;
}

}  // namespace mirrorscale::scenarios
