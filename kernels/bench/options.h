#pragma once
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

namespace mirrorscale::kernels::bench {

/// Reads "--name value" pairs: `take` has what to do with the value of each name. Throws
/// std::invalid_argument for an unknown name, a name without a value, and what `take` refuses.
inline void read_options(int argc, char** argv,
                         const std::map<std::string, std::function<void(const std::string&)>>& take) {
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw std::invalid_argument("option " + name + " needs a value");
    const auto found = take.find(name);
    if (found == take.end()) throw std::invalid_argument("unknown option " + name);
    found->second(argv[i + 1]);
  }
}

}  // namespace mirrorscale::kernels::bench
