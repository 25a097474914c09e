#include "scenarios/workloads/data_source.h"

#include "scenarios/workloads/labels_as_targets.h"
#include "strategies/input/data_error.h"
#include "strategies/input/idx.h"
#include "strategies/input/numpy_dataset.h"
#include "strategies/input/synthetic.h"
#include "strategies/input/token_windows.h"

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
      {{"images", "synthetic: 10000 + 2000 pictures of the shape of CIFAR-10: 32 x 32 x 3, 10 classes"},
       [](std::uint64_t seed) {
         return make_images({.rows = {10000, 2000}, .seed = seed});
       }},
      {{"images-small", "synthetic: 1024 + 256 pictures, 32 x 32 x 3, 10 classes"},
       [](std::uint64_t seed) {
         return make_images({.name = "images-small", .rows = {1024, 256}, .seed = seed});
       }},
      {{"line", "synthetic: 1024 + 256 rows of y = 3 x"},
       [](std::uint64_t seed) {
         return make_line({1024, 256}, seed);
       }},
      {{"tokens", "synthetic: 1024 + 64 windows of 128 tokens of 256 kinds, of which most follow a rule"},
       [](std::uint64_t seed) { return make_tokens(1024, 64, 128, 256, seed); }},
      {{"tokens-small", "synthetic: 1024 + 64 windows of 20 tokens of 40 kinds"},
       [](std::uint64_t seed) { return make_tokens(1024, 64, 20, 40, seed); }},
      {{"two-clusters", "synthetic: 4096 + 1024 rows of 20 features, a target of 0 or 1"}, two_clusters}};
  return all;
}

constexpr std::string_view kText = "text:";
constexpr int kWindow = 128;  // bytes of a row of text

/// FILE, or FILE@WINDOW.
SplitDataset text(const std::string& of) {
  const std::size_t at = of.rfind('@');
  if (at == std::string::npos) return strategies::load_text(of, kWindow);
  const std::string number = of.substr(at + 1);
  if (number.empty() || number.size() > 6 || number.find_first_not_of("0123456789") != std::string::npos) {
    throw std::invalid_argument("data source 'text:" + of + "': '" + number +
                                "' after the @ is no number of bytes; e.g. text:book.txt@128");
  }
  return strategies::load_text(of.substr(0, at), std::stoi(number));
}

SplitDataset load(const std::string& source, std::uint64_t seed) {
  std::string known;
  for (const Source& candidate : sources()) {
    if (candidate.info.name == source) return candidate.load(seed);
    known += candidate.info.name + ", ";
  }
  if (source.starts_with(kText)) return text(source.substr(kText.size()));
  if (const std::size_t comma = source.find(','); comma != std::string::npos) {
    return {strategies::load_npy_pair(source.substr(0, comma), source.substr(comma + 1)), nullptr};
  }
  if (source.ends_with(".npz")) return strategies::load_npz(source);
  if (source.find('/') != std::string::npos || std::filesystem::is_directory(source)) {
    return strategies::load_idx(source);
  }
  throw std::invalid_argument("no data source '" + source + "'; there are: " + known +
                              "a folder with IDX files, a .npz file, x.npy,y.npy, or text:FILE");
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
