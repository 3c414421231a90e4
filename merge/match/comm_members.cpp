#include "merge/match/comm_members.h"

#include <algorithm>

namespace jaxprof::match {
namespace {

// Names of the fields in NCCL's payload schemas (src/include/nvtx_payload_schemas.h, 2.25 to 2.31).
constexpr std::string_view kCommField = "NCCL communicator ID";
constexpr std::string_view kRankField = "Rank";
constexpr std::string_view kRankCountField = "No. of ranks";
constexpr std::string_view kDeviceField = "CUDA device";

bool makes_member(std::string_view api) {
  return api.starts_with("ncclCommInitRank");
}

// Ranges whose payload is about the communicator itself. A split's or a shrunk one's carries its parent's.
bool is_about_itself(std::string_view api) {
  return makes_member(api) || api == "ncclCommDestroy" || api == "ncclCommAbort" || api == "ncclCommFinalize";
}

}  // namespace

std::optional<std::uint64_t> comm_hash_of(std::span<const PayloadField> fields) {
  const PayloadField* field = find_field(fields, kCommField);
  if (field == nullptr || field->value == 0) return std::nullopt;
  return static_cast<std::uint64_t>(field->value);
}

void CommMembers::take_range(std::string_view api, std::uint32_t thread, std::span<const PayloadField> fields) {
  const std::optional<std::uint64_t> hash = comm_hash_of(fields);
  if (!is_about_itself(api) || !hash) return;
  ProcessComm& made = member(*hash, number_of_field(fields, kRankField));
  if (made.rank_count < 0) made.rank_count = number_of_field(fields, kRankCountField);
  if (makes_member(api)) made.thread = thread;
  if (made.device < 0) made.device = number_of_field(fields, kDeviceField);
}

void CommMembers::take_plugin(const rundir::Communicator& from) {
  ProcessComm& made = member(from.hash, from.rank);
  made.rank_count = from.rank_count;
  made.node_count = from.node_count;
  if (!from.name.empty()) made.name = from.name;
}

void CommMembers::take_call(std::uint64_t hash) {
  if (comms_[hash].empty()) member(hash, -1);
}

void CommMembers::settle() {
  for (auto& [hash, members] : comms_) {
    if (members.size() < 2 || members.begin()->first >= 0) continue;
    const std::int32_t rank_count = members.begin()->second.rank_count;
    members.erase(members.begin());
    for (auto& [rank, known] : members) known.rank_count = std::max(known.rank_count, rank_count);
  }
}

std::size_t CommMembers::count(std::uint64_t hash) const {
  const auto found = comms_.find(hash);
  return found == comms_.end() ? 0 : found->second.size();
}

std::int32_t CommMembers::only_rank(std::uint64_t hash) const {
  return count(hash) == 1 ? comms_.at(hash).begin()->first : -1;
}

std::int32_t CommMembers::rank_made_on(std::uint64_t hash, std::uint32_t thread) const {
  const auto members = comms_.find(hash);
  if (members == comms_.end()) return -1;
  std::int32_t rank = -1;
  for (const auto& [own_rank, known] : members->second) {
    if (known.thread != thread) continue;
    if (rank >= 0) return -1;
    rank = own_rank;
  }
  return rank;
}

std::int32_t CommMembers::device(std::uint64_t hash, std::int32_t rank) const {
  const auto members = comms_.find(hash);
  if (members == comms_.end()) return -1;
  const auto found = members->second.find(rank);
  return found == members->second.end() ? -1 : found->second.device;
}

std::vector<ProcessComm> CommMembers::all() const {
  std::vector<ProcessComm> result;
  for (const auto& [hash, members] : comms_) {
    for (const auto& [rank, known] : members) result.push_back(known);
  }
  return result;
}

ProcessComm& CommMembers::member(std::uint64_t hash, std::int32_t rank) {
  ProcessComm& found = comms_[hash][rank];
  found.hash = hash;
  found.rank = rank;
  return found;
}

}  // namespace jaxprof::match
