#include "netsampler/clock/news_queue.h"

#include <utility>

namespace jaxprof::netsampler {
namespace {

bool is_registration(const ClockNews& news) {
  return std::holds_alternative<ServiceNews>(news) || std::holds_alternative<PeerNews>(news) ||
         std::holds_alternative<ClockNote>(news);
}

std::size_t weight(const ClockNews& news) {
  const auto* burst = std::get_if<spool::ProbeBurst>(&news);
  return burst == nullptr ? 1 : 1 + burst->exchanges.size();
}

}  // namespace

void NewsQueue::push(ClockNews news) {
  const std::lock_guard lock(mutex_);
  if (!is_registration(news)) {
    if (n_waiting_ + weight(news) > kMost) {
      ++waiting_.n_lost;
      return;
    }
    n_waiting_ += weight(news);
  }
  waiting_.news.push_back(std::move(news));
}

NewsQueue::Taken NewsQueue::take() {
  const std::lock_guard lock(mutex_);
  n_waiting_ = 0;
  return std::exchange(waiting_, {});
}

}  // namespace jaxprof::netsampler
