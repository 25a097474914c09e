#include "strategies/input/token_windows.h"

#include "kernels/random.h"
#include "strategies/input/data_error.h"
#include "strategies/input/file_bytes.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace mirrorscale::strategies {
namespace {

constexpr std::int64_t kOneInTest = 10;

SplitDataset split(TokenWindows::Contents all, std::int64_t test_windows) {
  const std::int64_t windows = all.windows;
  all.windows = windows - test_windows;
  TokenWindows::Contents test = all;
  test.first_window = all.windows;
  test.windows = test_windows;
  return {std::make_shared<TokenWindows>(std::move(all)),
          test_windows > 0 ? std::make_shared<TokenWindows>(std::move(test)) : nullptr};
}

}  // namespace

TokenWindows::TokenWindows(Contents contents) : contents_(std::move(contents)) {
  const Contents& c = contents_;
  if (c.window < 1 || c.classes < 1 || c.windows < 1 || c.first_window < 0) {
    throw std::invalid_argument("[token_windows] '" + c.name + "': " + std::to_string(c.windows) +
                                " windows of " + std::to_string(c.window) + " tokens of " +
                                std::to_string(c.classes) + " kinds; each needs at least 1");
  }
  const auto wanted = static_cast<std::size_t>((c.first_window + c.windows) * c.window + 1);
  if (c.tokens->size() < wanted) {
    throw std::invalid_argument("[token_windows] '" + c.name + "' has " + std::to_string(c.tokens->size()) +
                                " tokens; its windows need " + std::to_string(wanted));
  }
}

const std::uint8_t* TokenWindows::window(std::int64_t row) const {
  if (row < 0 || row >= contents_.windows) {
    throw std::invalid_argument("[token_windows] row " + std::to_string(row) + " of '" + contents_.name +
                                "'; expected 0 .. " + std::to_string(contents_.windows - 1));
  }
  return contents_.tokens->data() + (contents_.first_window + row) * contents_.window;
}

void TokenWindows::copy_features(std::span<const std::int64_t> rows, kernels::Matrix x) const {
  if (x.rows != static_cast<int>(rows.size()) || x.columns != contents_.window) {
    throw std::invalid_argument("[token_windows] a matrix of " + std::to_string(x.rows) + " x " +
                                std::to_string(x.columns) + "; expected " + std::to_string(rows.size()) +
                                " x " + std::to_string(contents_.window));
  }
  for (int r = 0; r < x.rows; ++r) {
    const std::uint8_t* from = window(rows[static_cast<std::size_t>(r)]);
    for (int c = 0; c < kernels::padded(x.columns); ++c) x.at(r, c) = c < x.columns ? from[c] : 0;
  }
}

void TokenWindows::copy_labels(std::span<const std::int64_t> rows, int* labels) const {
  for (const std::int64_t row : rows) {
    const std::uint8_t* from = window(row) + 1;
    labels = std::copy_n(from, contents_.window, labels);
  }
}

void TokenWindows::copy_targets(std::span<const std::int64_t> /*rows*/, kernels::Matrix /*t*/) const {
  throw std::invalid_argument("[token_windows] '" + contents_.name + "' has labels, no targets");
}

SplitDataset load_text(const std::filesystem::path& file, int window) {
  if (window < 1) {
    throw std::invalid_argument("[load_text] windows of " + std::to_string(window) +
                                " bytes; needs at least 1");
  }
  const std::vector<std::byte> bytes = read_file(file);
  auto tokens = std::make_shared<std::vector<std::uint8_t>>();
  tokens->reserve(bytes.size());
  for (const std::byte b : bytes) tokens->push_back(static_cast<std::uint8_t>(b));
  const auto count = static_cast<std::int64_t>(tokens->size());
  const std::int64_t windows = (count - 1) / window;
  if (windows < 2) {
    throw DataError(file.string(), std::to_string(count) + " bytes",
                    "at least " + std::to_string(2 * window + 1) + ": two windows of " +
                        std::to_string(window) + " bytes and one more");
  }
  return split({.name = file.filename().string(),
                .tokens = std::move(tokens),
                .window = window,
                .classes = 256,
                .windows = windows},
               std::max<std::int64_t>(1, windows / kOneInTest));
}

SplitDataset make_tokens(std::int64_t train_windows, std::int64_t test_windows, int window, int classes,
                         std::uint64_t seed) {
  if (train_windows < 1 || test_windows < 0 || window < 1 || classes < 2 || classes > 256) {
    throw std::invalid_argument("[make_tokens] " + std::to_string(train_windows) + " + " +
                                std::to_string(test_windows) + " windows of " + std::to_string(window) +
                                " tokens of " + std::to_string(classes) +
                                " kinds; expected at least 1, and 2 to 256 kinds");
  }
  const std::int64_t count = (train_windows + test_windows) * window + 1;
  auto tokens = std::make_shared<std::vector<std::uint8_t>>();
  tokens->reserve(static_cast<std::size_t>(count));
  const auto kinds = static_cast<std::uint32_t>(classes);
  std::uint32_t last = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto words =
        kernels::random_words(seed, kernels::Purpose::kSynthetic, 0, static_cast<std::uint64_t>(i));
    last = words[0] % 4 == 0 ? words[1] % kinds : (5 * last + 7) % kinds;
    tokens->push_back(static_cast<std::uint8_t>(last));
  }
  return split({.name = "tokens",
                .tokens = std::move(tokens),
                .window = window,
                .classes = classes,
                .windows = train_windows + test_windows,
                .synthetic = true},
               test_windows);
}

}  // namespace mirrorscale::strategies
