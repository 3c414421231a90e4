#include "launcher/observer_watch.h"

#include <system_error>
#include <utility>

#include "launcher/observer_start.h"

namespace jaxprof::launcher {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPeriod(5000);
// The one that was started with the run has its lock by then.
constexpr milliseconds kEarliestLook(1000);

}  // namespace

ObserverWatch::ObserverWatch(std::vector<std::string> command, std::vector<std::string> environment,
                             const std::string& node_folder, std::uint64_t phase, std::function<void(pid_t)> on_started)
    : command_(std::move(command)),
      environment_(std::move(environment)),
      turns_(node_folder),
      first_look_(kEarliestLook + milliseconds(phase % static_cast<std::uint64_t>(kPeriod.count()))),
      on_started_(std::move(on_started)) {}

void ObserverWatch::start() {
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error&) {
    return;
  }
}

void ObserverWatch::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void ObserverWatch::run(const std::stop_token& stop) {
  for (milliseconds pause = first_look_;; pause = kPeriod) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, pause, [] { return false; });
    }
    if (stop.stop_requested()) return;
    if (!turns_.take_next()) continue;
    if (const auto observer = start_observer(command_, environment_)) on_started_(*observer);
  }
}

}  // namespace jaxprof::launcher
