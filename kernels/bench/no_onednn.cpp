#include "kernels/bench/peers.h"

namespace mirrorscale::kernels::bench {

std::vector<Peer> onednn_peers() {
  return {};
}

}  // namespace mirrorscale::kernels::bench
