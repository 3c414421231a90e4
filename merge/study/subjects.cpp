// Every member gets a key, which is a small number; those that occur become subjects, in order of their keys.
#include "merge/study/subjects.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "merge/runfile/rank_ranges.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

// By process: its place among all ranks; of a process without a rank, a place of its own behind them.
std::vector<std::uint32_t> rank_keys(const ProcessTable& processes) {
  std::vector<std::int32_t> ranks;
  for (const std::int32_t rank : processes.rank) {
    if (rank >= 0) ranks.push_back(rank);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::vector<std::uint32_t> keys;
  for (std::size_t process = 0; process < processes.rank.size(); ++process) {
    const auto known = std::lower_bound(ranks.begin(), ranks.end(), processes.rank[process]) - ranks.begin();
    keys.push_back(static_cast<std::uint32_t>(processes.rank[process] >= 0 ? static_cast<std::size_t>(known)
                                                                           : ranks.size() + process));
  }
  return keys;
}

Cell number(std::int64_t value) {
  return value < 0 ? Cell{Missing{}} : Cell{value};
}

}  // namespace

std::string node_name(const RunTables& run, std::uint32_t node) {
  if (node >= run.nodes.node.size()) return "?";
  const auto host = run.strings.text(run.nodes.host[node]);
  return host.empty() ? fmt::format("node {}", node) : std::string(host);
}

Subjects::Subjects(const RunTables& run, const Arrivals& arrivals, By by) : run_(run), by_(by) {
  add_keys(run, arrivals);
  const std::size_t n_keys =
      of_member_.empty() ? 0 : std::size_t{*std::max_element(of_member_.begin(), of_member_.end())} + 1;
  std::vector<std::uint32_t> subject_of_key(n_keys, kNoIndex);
  std::vector<std::size_t> first_member(n_keys, 0);
  for (std::size_t i = of_member_.size(); i-- > 0;) {
    subject_of_key[of_member_[i]] = 0;
    first_member[of_member_[i]] = i;
  }
  for (std::size_t key = 0; key < n_keys; ++key) {
    if (subject_of_key[key] == kNoIndex) continue;
    subject_of_key[key] = static_cast<std::uint32_t>(subjects_.size());
    subjects_.push_back(subject_of(arrivals, first_member[key]));
  }
  for (std::uint32_t& key : of_member_) key = subject_of_key[key];
  if (by_ == By::kNode) list_ranks();
}

void Subjects::add_keys(const RunTables& run, const Arrivals& arrivals) {
  const ArrivalMembers& members = arrivals.members;
  of_member_.resize(members.process.size());
  const auto n_devices = static_cast<std::uint32_t>(run.devices.device.size());
  const auto n_nodes = static_cast<std::uint32_t>(run.nodes.node.size());
  const auto n_comms = static_cast<std::uint32_t>(run.comms.comm.size());
  const std::vector<std::uint32_t> of_rank = rank_keys(run.processes);
  for (std::size_t instance = 0; instance < arrivals.size(); ++instance) {
    const std::uint32_t comm = arrivals.instances.comm[instance];
    for (std::size_t i = arrivals.begin(instance); i < arrivals.end(instance); ++i) {
      const std::uint32_t process = members.process[i];
      std::uint32_t key = of_rank[process];
      if (by_ == By::kGpu) {
        key = members.device[i] >= 0 ? static_cast<std::uint32_t>(members.device[i]) : n_devices + process;
      } else if (by_ == By::kNode) {
        const std::uint32_t node = run.processes.node[process];
        key = node < n_nodes ? node : n_nodes + process;
      } else if (by_ == By::kComm) {
        key = std::min(comm, n_comms);
      } else if (by_ == By::kMember && comm < n_comms) {
        // Members that the table of communicators does not list are one each process, behind the others.
        const std::uint64_t listed = run.comm_member_offset[comm + 1] - run.comm_member_offset[comm];
        const bool is_listed = members.comm_rank[i] >= 0 && static_cast<std::uint64_t>(members.comm_rank[i]) < listed;
        key = static_cast<std::uint32_t>(is_listed ? run.comm_member_offset[comm] +
                                                         static_cast<std::uint64_t>(members.comm_rank[i])
                                                   : run.comm_member_offset.back() + process);
      }
      of_member_[i] = key;
    }
  }
}

Subject Subjects::subject_of(const Arrivals& arrivals, std::size_t member) const {
  const ArrivalMembers& members = arrivals.members;
  const std::uint32_t process = members.process[member];
  Subject subject;
  if (by_ == By::kComm || by_ == By::kMember) {
    const auto& offset = arrivals.instances.member_offset;
    const auto after = std::upper_bound(offset.begin(), offset.end(), member);
    subject.comm = arrivals.instances.comm[static_cast<std::size_t>(after - offset.begin()) - 1];
  }
  if (by_ == By::kComm) return subject;
  subject.node = run_.processes.node[process];
  if (by_ == By::kNode) return subject;
  subject.rank = run_.processes.rank[process];
  if (by_ == By::kGpu || by_ == By::kMember) subject.device = members.device[member];
  if (by_ == By::kMember) subject.comm_rank = members.comm_rank[member];
  return subject;
}

void Subjects::list_ranks() {
  for (std::size_t process = 0; process < run_.processes.rank.size(); ++process) {
    for (Subject& subject : subjects_) {
      if (subject.node == run_.processes.node[process]) subject.ranks.push_back(run_.processes.rank[process]);
    }
  }
}

std::vector<std::size_t> Subjects::offsets() const {
  std::vector<std::size_t> offset(subjects_.size() + 1, 0);
  for (const std::uint32_t subject : of_member_) ++offset[subject + 1];
  std::partial_sum(offset.begin(), offset.end(), offset.begin());
  return offset;
}

std::vector<Column> Subjects::columns() const {
  switch (by_) {
    case By::kMember:
      return {{"comm", "comm"}, {"comm_rank", "member"}, {"rank", "rank"}, {"node", "node"}, {"device", "GPU"}};
    case By::kGpu:
      return {{"device", "GPU"}, {"rank", "rank"}, {"node", "node"}};
    case By::kNode:
      return {{"node", "node"}, {"ranks", "ranks"}};
    case By::kComm:
      return {{"comm", "comm"}, {"comm_name", "name"}, {"n_ranks", "ranks"}, {"n_nodes", "nodes"}};
    default:
      return {{"rank", "rank"}, {"node", "node"}};
  }
}

Row Subjects::cells(std::size_t subject) const {
  const Subject& s = subjects_[subject];
  const Cell comm = s.comm == kNoIndex ? Cell{Missing{}} : Cell{std::int64_t{s.comm}};
  const Cell node = s.node == kNoIndex ? Cell{Missing{}} : Cell{node_name(run_, s.node)};
  switch (by_) {
    case By::kMember:
      return {comm, number(s.comm_rank), number(s.rank), node, number(s.device)};
    case By::kGpu:
      return {number(s.device), number(s.rank), node};
    case By::kNode:
      return {node, rank_ranges(s.ranks)};
    case By::kComm: {
      if (s.comm == kNoIndex) return {Missing{}, Missing{}, Missing{}, Missing{}};
      const auto name = run_.strings.text(run_.comms.name[s.comm]);
      const auto size = [](std::uint32_t n) { return n == kNoIndex ? Cell{Missing{}} : Cell{std::int64_t{n}}; };
      return {comm, name.empty() ? Cell{Missing{}} : Cell{std::string(name)}, size(run_.comms.n_ranks[s.comm]),
              size(run_.comms.n_nodes[s.comm])};
    }
    default:
      return {number(s.rank), node};
  }
}

std::string Subjects::name(std::size_t subject) const {
  const Subject& s = subjects_[subject];
  const std::string rank = s.rank >= 0 ? fmt::format("rank {}", s.rank) : "a process of unknown rank";
  switch (by_) {
    case By::kMember:
      return fmt::format("{} as member {} of communicator {}", rank, s.comm_rank, s.comm);
    case By::kGpu:
      return s.device < 0 ? rank : fmt::format("GPU {} of {}", s.device, rank);
    case By::kNode:
      return fmt::format("node {} ({})", node_name(run_, s.node), rank_ranges(s.ranks));
    case By::kComm:
      return fmt::format("communicator {}", s.comm);
    default:
      return fmt::format("{} (node {})", rank, node_name(run_, s.node));
  }
}

}  // namespace jaxprof::study
