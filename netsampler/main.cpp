// jaxprof-netsampler: the observer of a node. It reads the counters of the network ports and what the GPUs say of
// themselves, and compares the node's clock with other nodes', once a node and run, beside a job that must not notice.
// Started by jaxprof-exec it belongs to the tasks of one run and ends with the last of them; started by hand it writes
// one file, or says what there is.

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/env.h"
#include "agent/base/log.h"
#include "agent/contract/node_name.h"
#include "agent/contract/rank_identity.h"
#include "agent/contract/run_identity.h"
#include "agent/contract/run_layout.h"
#include "agent/contract/session_page.h"
#include "netsampler/clock/clock_findings.h"
#include "netsampler/clock/clock_meeting.h"
#include "netsampler/node/detachment.h"
#include "netsampler/node/neighbours.h"
#include "netsampler/node/node_clock.h"
#include "netsampler/node/node_spool.h"
#include "netsampler/node/probe_report.h"
#include "netsampler/node/run_place.h"
#include "netsampler/node/sample_loop.h"
#include "netsampler/node/sources.h"
#include "netsampler/options.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::uint64_t kGpuWaitNs = 30'000'000'000;
constexpr std::int64_t kMeetingNs = 6'000'000'000;  // nodes of a step start within a second or two

struct Sources {
  std::unique_ptr<NicSource> nics;
  std::unique_ptr<GpuSource> gpus;
  std::unique_ptr<ClockSource> clocks;
};

Sources open_sources(const Options& options, bool is_shared) {
  NicSettings nic = options.nic;
  nic.is_half_rate = is_shared;
  GpuSettings gpu;
  gpu.probe = options.gpu_probe;
  gpu.sysfs_root = options.nic.sysfs_root;
  return {options.has_nics ? nic_source(nic) : nullptr, options.has_gpus ? gpu_source(gpu) : nullptr, nullptr};
}

// Of a run there may be other nodes, now or later.
ClockSettings clocks_of_run(const Options& options) {
  ClockSettings settings;
  settings.rank0_mark = run_layout::node_rank0_path(options.node_folder);
  settings.probing = ProbingSettings{options.run_state,        options.identity.run,    options.identity.host,
                                     options.identity.boot_id, options.clock_interface, options.clock_ports};
  return settings;
}

ClockSettings clocks_of_file() {
  ClockSettings settings;
  settings.no_probing = "the node is sampled alone";
  return settings;
}

// Nobody reads what it says: standard error is closed, and the spool has the lines that matter.
Status observe_run(const Options& options) {
  detach();
  take_back_seat(options.cpu);
  listen_for_end();
  auto place = RunPlace::take(options.node_folder);
  if (!place) return tl::unexpected(std::move(place.error()));
  if (!*place) return {};
  remove_deserted_neighbours(options.node_folder);
  const bool is_shared = has_neighbour(options.node_folder);
  std::uint32_t segment = 0;
  auto spool = NodeSpool::create_next(options.run_state, options.identity, &segment);
  if (!spool) return tl::unexpected(std::move(spool.error()));
  SystemClock clock;
  Sources sources = open_sources(options, is_shared);
  if (options.has_clock) sources.clocks = clock_source(clocks_of_run(options));
  SampleLoop loop({&clock, &*spool, sources.nics.get(), sources.gpus.get(), sources.clocks.get()}, segment, is_shared);
  loop.run({[&] { return is_asked_to_end() || (*place)->is_over(clock.now_ns()); },
            [&] { return has_neighbour(options.node_folder); }, [&] { return (*place)->has_traced_task(); }});
  (*place)->leave();
  return {};
}

// Samplers that one job step starts on many nodes are one run.
NodeIdentity own_identity() {
  NodeName name = own_node_name();
  const Env env;
  const pid_t pid = getpid();
  const RunIdentity run =
      resolve_run(env, resolve_rank(env, pid), {name.host.c_str(), pid, process_start_ticks(pid), ""});
  NodeIdentity identity;
  identity.run = run.run_id;
  identity.job = run.job_id;
  identity.host = std::move(name.host);
  identity.boot_id = std::move(name.boot_id);
  return identity;
}

Status sample_into_file(const Options& options) {
  take_back_seat(options.cpu);
  listen_for_end();
  signal(SIGXFSZ, SIG_IGN);
  auto spool = NodeSpool::create(options.output, own_identity());
  if (!spool) return tl::unexpected(std::move(spool.error()));
  SystemClock clock;
  Sources sources = open_sources(options, false);
  if (options.has_clock) sources.clocks = clock_source(clocks_of_file());
  SampleLoop loop({&clock, &*spool, sources.nics.get(), sources.gpus.get(), sources.clocks.get()}, 0, false);
  const std::uint64_t end_ns = options.for_ns > 0 ? clock.now_ns() + options.for_ns : UINT64_MAX;
  loop.run(
      {[&] { return is_asked_to_end() || spool->has_failed() || clock.now_ns() >= end_ns; }, [] { return false; }});
  if (spool->has_failed())
    return fail(ErrorCode::kOutputFailed, options.output + " is cut: " + std::strerror(spool->failure()));
  return {};
}

Status print(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t length = write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return fail_errno(ErrorCode::kOutputFailed, "cannot write to standard output");
    done += static_cast<std::size_t>(length);
  }
  return {};
}

Status probe(const Options& options) {
  SystemClock clock;
  const Sources sources = open_sources(options, false);
  const NodeIdentity identity = own_identity();
  // First, while the others are there.
  std::optional<ClockMeeting> meeting;
  if (!options.clock_meet.empty()) {
    meeting = meet(
        {options.clock_meet, "meeting", identity.host, identity.boot_id, options.clock_interface, options.clock_ports},
        kMeetingNs);
  }
  // Whoever meets needs the ports, and tells of the clock.
  const bool is_told_by_another = meeting && meeting->is_anothers;
  std::optional<ClockFindings> clocks;
  if (options.has_clock && !is_told_by_another) clocks = find_clock(options.clock_interface, options.clock_ports);
  return print(
      probe_report({sources.nics.get(), sources.gpus.get(), clocks ? &*clocks : nullptr, meeting ? &*meeting : nullptr},
                   identity.host, kGpuWaitNs, &clock));
}

Status run(std::vector<std::string> arguments) {
  const auto options = parse_options(std::move(arguments));
  if (!options) return tl::unexpected(options.error());
  switch (options->mode) {
    case Mode::kRun:
      return observe_run(*options);
    case Mode::kFile:
      return sample_into_file(*options);
    case Mode::kProbe:
      return probe(*options);
    case Mode::kText:
      return print(options->text);
  }
  return {};
}

}  // namespace
}  // namespace jaxprof::netsampler

int main(int argc, char** argv) {
  const auto status = jaxprof::netsampler::run({argv + 1, argv + argc});
  if (status) return 0;
  jaxprof::say(status.error().message);
  return jaxprof::exit_status(status.error().code);
}
