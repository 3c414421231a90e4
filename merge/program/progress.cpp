#include "merge/program/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace jaxprof::merge {
namespace {

constexpr std::chrono::milliseconds kTerminalPeriod{200};
constexpr std::chrono::seconds kPlainPeriod{10};

std::string rate_words(double per_s) {
  char text[48];
  if (per_s >= 1e6) {
    std::snprintf(text, sizeof text, "%.2f M records/s", per_s / 1e6);
  } else {
    std::snprintf(text, sizeof text, "%.0f records/s", per_s);
  }
  return text;
}

}  // namespace

std::string progress_words(const assembly::Progress& progress, double elapsed_s) {
  std::string text =
      "reading  " + std::to_string(progress.processes) + " of " + std::to_string(progress.all_processes) + " processes";
  if (elapsed_s <= 0 || progress.bytes == 0) return text;
  text += ", " + rate_words(static_cast<double>(progress.records) / elapsed_s);
  const double left = static_cast<double>(progress.all_bytes - progress.bytes) / static_cast<double>(progress.bytes);
  return text + ", " + std::to_string(std::llround(elapsed_s * left)) + " s left";
}

ProgressLine::ProgressLine(int fd) : fd_(fd), is_terminal_(fd >= 0 && isatty(fd) == 1) {
  next_ = begin_ + (is_terminal_ ? std::chrono::milliseconds(1000) : std::chrono::milliseconds(kPlainPeriod));
}

ProgressLine::~ProgressLine() {
  constexpr char kErase[] = "\r\033[K";
  if (is_terminal_ && is_shown_ && write(fd_, kErase, sizeof kErase - 1) < 0) return;
}

void ProgressLine::show(const assembly::Progress& progress) {
  const auto now = Clock::now();
  if (fd_ < 0 || now < next_) return;
  next_ = now + (is_terminal_ ? kTerminalPeriod : std::chrono::milliseconds(kPlainPeriod));
  const std::string words = progress_words(progress, std::chrono::duration<double>(now - begin_).count());
  const std::string line = is_terminal_ ? "\r\033[K" + words : words + "\n";
  is_shown_ = true;
  if (write(fd_, line.data(), line.size()) < 0) fd_ = -1;
}

}  // namespace jaxprof::merge
