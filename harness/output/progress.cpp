#include "harness/output/progress.h"

#include <limits>
#include <sys/ioctl.h>
#include <unistd.h>

namespace mirrorscale::harness {

ProgressLine::ProgressLine(std::FILE* stream, double interval_s, double plain_interval_s)
    : stream_(stream),
      terminal_(isatty(fileno(stream)) == 1),
      interval_s_(terminal_ ? interval_s : plain_interval_s),
      last_s_(terminal_ ? -std::numeric_limits<double>::infinity() : 0) {}

ProgressLine::~ProgressLine() {
  clear();
}

void ProgressLine::update(const std::string& text) {
  const double now_s = clock_.now_s();
  if (now_s - last_s_ < interval_s_) return;
  last_s_ = now_s;
  if (!terminal_) {
    std::fprintf(stream_, "[%.0f s] %s\n", now_s, text.c_str());
    std::fflush(stream_);
    return;
  }
  winsize size{};
  const bool known = ioctl(fileno(stream_), TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  // One column less than the terminal has: a line that wraps cannot be rewritten.
  const std::string line = text.substr(0, known ? size.ws_col - 1u : 79u);
  std::fprintf(stream_, "\r\x1b[K%s", line.c_str());
  std::fflush(stream_);
  drawn_ = true;
}

void ProgressLine::clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stream_);
  std::fflush(stream_);
  drawn_ = false;
}

}  // namespace mirrorscale::harness
