#include "netsampler/clock/clock_service.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <system_error>
#include <utility>

#include "agent/base/clocks.h"
#include "netsampler/clock/clock_discipline.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kReadingPeriodNs = kSecond / 10;
constexpr std::int64_t kChorePeriodNs = 10 * kSecond;

std::uint64_t as_stamp(std::int64_t raw_ns) {
  return static_cast<std::uint64_t>(raw_ns);
}

// The job's signals, and those that end the observer, are the other thread's.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

ClockService::ClockService(ClockSettings settings)
    : settings_(std::move(settings)),
      raw_(settings_.raw_ns ? settings_.raw_ns : RawClock([] { return clock_ns(CLOCK_MONOTONIC_RAW); })),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

ClockService::~ClockService() {
  finish();
}

void ClockService::start() {
  try {
    const BlockedSignals blocked;
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    news_.push(ClockNote{std::string("clocks are not read: no thread can be made: ") + error.what(), as_stamp(raw_())});
  }
}

void ClockService::request_end() {
  is_ending_ = true;
  if (wake_) eventfd_write(wake_.get(), 1);
}

void ClockService::finish() {
  if (!thread_.joinable()) return;
  request_end();
  thread_.join();
}

void ClockService::run() {
  begin();
  while (!is_ending_) {
    work_until(std::min({next_reading_ns_, next_chores_ns_, next_opening_ns_}));
    const std::int64_t now_ns = raw_();
    if (now_ns >= next_opening_ns_) open_probing();
    if (now_ns >= next_reading_ns_) {
      read_clocks_now();
      look_at_reference();
      tell_service();
      // Whole periods after the first: what is late is left out and not caught up.
      next_reading_ns_ += ((now_ns - next_reading_ns_) / kReadingPeriodNs + 1) * kReadingPeriodNs;
    }
    if (now_ns >= next_chores_ns_) {
      do_slow_chores();
      next_chores_ns_ = now_ns + kChorePeriodNs;
    }
  }
  read_clocks_now();
  if (probing_) {
    probing_->finish(kLongestEndNs);
    read_clocks_now();
  }
  do_slow_chores();
  if (const std::string silent = probing_ ? probing_->describe_silent() : std::string(); !silent.empty()) {
    news_.push(ClockNote{"the clocks of some nodes are not compared with this one's: " + silent, as_stamp(raw_())});
  }
}

void ClockService::begin() {
  clocksource_ = read_clocksource();
  read_clocks_now();
  if (settings_.probing) {
    open_probing();
  } else {
    trouble_ = settings_.no_probing;
  }
  look_at_reference();
  tell_service();
  const std::int64_t now_ns = raw_();
  next_reading_ns_ = now_ns + kReadingPeriodNs;
  next_chores_ns_ = now_ns + kChorePeriodNs;
}

// What is in the way is told once; that it is not any more is told, too.
void ClockService::open_probing() {
  const bool is_first = trouble_.empty();
  auto probing = Probing::open(*settings_.probing, raw_, [this](ClockNews news) { news_.push(std::move(news)); });
  if (!probing) {
    trouble_ = probing.error().message;
    next_opening_ns_ = raw_() + settings_.retry_ns;
    if (is_first) {
      news_.push(ClockNote{"other nodes' clocks are not compared with this one's: " + trouble_, as_stamp(raw_())});
    }
    return;
  }
  probing_ = std::move(*probing);
  next_opening_ns_ = INT64_MAX;
  is_reference_settled_ = false;
  trouble_.clear();
  if (!is_first) {
    news_.push(ClockNote{"other nodes' clocks are compared with this one's from now on", as_stamp(raw_())});
  }
  if (!probing_->remark().empty()) news_.push(ClockNote{probing_->remark(), as_stamp(raw_())});
}

void ClockService::work_until(std::int64_t deadline_ns) {
  if (probing_) return probing_->run_until(deadline_ns, wake_.get());
  const std::int64_t left_ns = std::max<std::int64_t>(deadline_ns - raw_(), 0);
  const timespec timeout{static_cast<time_t>(left_ns / kSecond), static_cast<long>(left_ns % kSecond)};
  pollfd wake{wake_.get(), POLLIN, 0};
  ppoll(&wake, wake_ ? 1 : 0, &timeout, nullptr);
}

void ClockService::read_clocks_now() {
  const spool::ClockReading reading = read_clocks(raw_);
  news_.push(reading);
  if (steps_.is_step(reading) && probing_) probing_->hurry();
  look_at_discipline(reading);
}

void ClockService::look_at_discipline(const spool::ClockReading& reading) {
  const auto discipline = read_discipline(as_stamp(reading.raw_ns));
  if (!discipline) return;
  const bool is_told = discipline_ && discipline_->status == discipline->status &&
                       discipline->stamp - discipline_->stamp < static_cast<std::uint64_t>(kChorePeriodNs);
  if (is_told) return;
  discipline_ = discipline;
  news_.push(*discipline);
}

// The mark is made by a wrapper, which may start after this observer did.
void ClockService::look_at_reference() {
  if (is_reference_settled_ || settings_.rank0_mark.empty()) return;
  if (!is_rank0_here_ && access(settings_.rank0_mark.c_str(), F_OK) != 0) return;
  is_rank0_here_ = true;
  is_reference_settled_ = !probing_ || probing_->name_reference();
}

void ClockService::do_slow_chores() {
  if (std::string now = read_clocksource(); now != clocksource_) {
    clocksource_ = std::move(now);
    if (probing_) probing_->hurry();
  }
  tell_service();
  tell_packets();
}

void ClockService::tell_packets() {
  if (!probing_) return;
  const ProbeCounts& counts = probing_->counts();
  spool::ClockPacketsState record{};
  record.sent = counts.sent;
  record.received = counts.received;
  record.wrong_size = counts.wrong_size;
  record.wrong_mac = counts.wrong_mac;
  record.wrong_node = counts.wrong_node;
  record.replayed = counts.replayed;
  record.rate_limited = counts.rate_limited;
  record.unpaired = counts.unpaired;
  record.send_failed = counts.send_failed;
  record.cpu_ns = as_stamp(clock_ns(CLOCK_THREAD_CPUTIME_ID));
  record.stamp = as_stamp(raw_());
  news_.push(record);
}

// Only what is new.
void ClockService::tell_service() {
  ServiceNews news;
  news.is_reference = is_rank0_here_;
  news.clocksource = clocksource_;
  news.reason = trouble_;
  if (probing_) {
    const ClockEndpoint& own = probing_->own();
    news.port = own.address.port;
    news.stamps = probing_->stamps();
    news.is_reference = is_rank0_here_ && probing_->is_reference();
    news.address = own.address.literal();
    news.interface = own.interface;
    news.network_namespace = own.network_namespace;
    news.reason = probing_->describe_silent();
  }
  news.stamp = told_.stamp;
  if (has_told_ && news == told_) return;
  news.stamp = as_stamp(raw_());
  told_ = news;
  has_told_ = true;
  news_.push(std::move(news));
}

}  // namespace jaxprof::netsampler
