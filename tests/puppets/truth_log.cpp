#include "tests/puppets/truth_log.h"

#include "tests/puppets/clock.h"

namespace jaxprof::puppets {
namespace {

using doubles::RecordLine;

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

std::string expand(std::string path, int rank) {
  const auto replace_all = [&path](const std::string& macro, const std::string& value) {
    for (auto at = path.find(macro); at != std::string::npos; at = path.find(macro, at + value.size())) {
      path.replace(at, macro.size(), value);
    }
  };
  replace_all("%r", std::to_string(rank));
  replace_all("%p", std::to_string(getpid()));
  replace_all("%h", host_name());
  return path;
}

void add_optional(RecordLine& line, const char* key, const std::optional<std::uint64_t>& value) {
  value ? line.unsigned_number(key, *value) : line.add(key, "-");
}

}  // namespace

TruthLog::TruthLog(const std::string& path_template, int rank) : rank_(rank), file_(expand(path_template, rank)) {}

void TruthLog::header(int n_ranks, int node, const std::string& api) const {
  RecordLine line("header");
  line.number("rank", rank_).number("n_ranks", n_ranks).number("node", node).add("host", host_name()).add("api", api);
  file_.write(line.number("raw_ns", raw_ns()).number("realtime_ns", realtime_ns()));
}

void TruthLog::plugin(const std::string& status) const {
  file_.write(RecordLine("plugin").add("status", status));
}

void TruthLog::comm(const Communicator& comm, std::uint64_t parent, int color, int key) const {
  RecordLine line("comm");
  line.hex("comm", comm.id).number("comm_rank", comm.rank).number("n_ranks", comm.n_ranks);
  line.number("n_nodes", comm.n_nodes).number("device", comm.device);
  line.hex("parent", parent).number("color", color).number("key", key);
  file_.write(line);
}

void TruthLog::call(const CallRecord& record) const {
  const Call& call = record.call;
  RecordLine line("call");
  line.number("rank", rank_).hex("comm", call.comm->id).number("comm_rank", call.comm->rank);
  line.number("n_ranks", call.comm->n_ranks).add("function", event_name(call.function));
  line.unsigned_number("n_call", record.n_call);
  add_optional(line, "sequence", record.sequence);
  line.unsigned_number("count", call.count).add("dtype", call.type->option).unsigned_number("bytes", call.bytes());
  line.add("redop", has_reduction(call.function) ? call.reduction->name : "-");
  line.number("root", has_root(call.function) ? call.root : -1).number("peer", is_p2p(call.function) ? call.root : -1);
  line.add("algorithm", record.tuning.algorithm).add("protocol", record.tuning.protocol);
  line.number("n_channels", record.tuning.n_channels);
  add_optional(line, "group", record.n_group);
  line.number("captured", record.is_captured ? 1 : 0);
  line.number("iteration", record.iteration).number("slept_ns", record.slept_ns);
  line.number("before_raw_ns", record.before_raw_ns).number("after_raw_ns", record.after_raw_ns);
  file_.write(line.number("before_realtime_ns", record.before_realtime_ns));
}

void TruthLog::transfer(const Call& call, std::uint64_t n_call, const Execution& how) const {
  RecordLine line("transfer");
  line.number("rank", rank_).hex("comm", call.comm->id).number("comm_rank", call.comm->rank);
  line.add("function", event_name(call.function)).unsigned_number("n_call", n_call);
  line.number("begin_raw_ns", how.begin_raw_ns).number("end_raw_ns", how.end_raw_ns);
  line.add("kernel", how.kernel.empty() ? "-" : how.kernel).unsigned_number("n_blocks", how.n_blocks);
  line.number("kernel_begin_raw_ns", how.kernel_begin_raw_ns).number("kernel_end_raw_ns", how.kernel_end_raw_ns);
  line.unsigned_number("correlation", how.correlation).unsigned_number("stream", how.stream);
  line.unsigned_number("graph_node", how.graph_node);
  add_optional(line, "replay", how.replay);
  file_.write(line);
}

void TruthLog::hazard(const std::string& name, std::uint64_t n_events) const {
  file_.write(RecordLine("hazard").number("rank", rank_).add("name", name).unsigned_number("n_events", n_events));
}

void TruthLog::group(std::uint64_t n_group, std::size_t n_calls, std::int64_t begin_raw_ns,
                     std::int64_t end_raw_ns) const {
  RecordLine line("group");
  line.number("rank", rank_).unsigned_number("group", n_group).unsigned_number("n_calls", n_calls);
  file_.write(line.number("before_raw_ns", begin_raw_ns).number("after_raw_ns", end_raw_ns));
}

void TruthLog::iteration(std::int64_t iteration, std::int64_t begin_raw_ns, std::int64_t begin_realtime_ns,
                         std::int64_t end_raw_ns) const {
  RecordLine line("iteration");
  line.number("rank", rank_).number("iteration", iteration).number("begin_raw_ns", begin_raw_ns);
  file_.write(line.number("end_raw_ns", end_raw_ns).number("begin_realtime_ns", begin_realtime_ns));
}

void TruthLog::footer(std::uint64_t n_calls, std::uint64_t digest) const {
  RecordLine line("footer");
  line.number("rank", rank_).unsigned_number("n_calls", n_calls).hex("digest", digest);
  file_.write(line.number("raw_ns", raw_ns()).number("realtime_ns", realtime_ns()));
}

}  // namespace jaxprof::puppets
