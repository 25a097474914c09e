#include "kernels/device_list.h"

namespace mirrorscale::kernels {

std::string in_words(const DeviceList& list) {
  std::string text;
  for (const DeviceInfo& d : list.devices) {
    text += (text.empty() ? "" : ", ") + d.name + " (" + d.model + ")";
  }
  return text.empty() ? "no CUDA device: " + list.why_none : text;
}

std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace mirrorscale::kernels
