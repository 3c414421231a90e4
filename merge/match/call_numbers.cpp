#include "merge/match/call_numbers.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "merge/match/nccl_words.h"

namespace jaxprof::match {
namespace {

// Calls of one function on one communicator that have no number yet.
struct Kind {
  bool has_numbered = false;  // some that the plugin numbered
  bool has_ordinals = false;
  std::vector<std::size_t> calls;  // by time
};

class Numbering {
 public:
  Numbering(const std::vector<std::uint64_t>& ordinals, const CommMembers& members, std::vector<NcclCall>* calls)
      : ordinals_(ordinals), members_(members), calls_(*calls) {}

  void number(std::uint64_t hash, runfile::Coll coll, const Kind& kind) {
    if (kind.has_numbered) return;
    if (const std::size_t member_count = members_.count(hash); member_count > 1) {
      if (!is_point_to_point(coll)) number_members(hash, member_count, kind.calls);
      return;
    }
    if (is_point_to_point(coll) && !kind.has_ordinals) return;
    std::uint64_t next = 0;
    for (const std::size_t index : kind.calls) {
      const std::uint64_t ordinal = ordinal_of(index);
      if (ordinal != 0) {
        set_number(index, ordinal - 1);
      } else if (!kind.has_ordinals) {
        set_number(index, next++);
      }
    }
  }

 private:
  std::uint64_t ordinal_of(std::size_t index) const { return index < ordinals_.size() ? ordinals_[index] : 0; }

  void set_number(std::size_t index, std::uint64_t number) {
    calls_[index].sequence = number;
    calls_[index].is_sequence_counted = true;
  }

  void number_members(std::uint64_t hash, std::size_t member_count, std::vector<std::size_t> calls) {
    std::sort(calls.begin(), calls.end(),
              [this](std::size_t a, std::size_t b) { return ordinal_of(a) < ordinal_of(b); });
    std::set<std::uint32_t> threads;
    for (const std::size_t index : calls) threads.insert(calls_[index].thread);
    if (threads.size() == member_count) {
      number_threads(hash, calls);
    } else if (threads.size() == 1) {
      number_groups(member_count, calls);
    }
  }

  // By ordinal. What comes behind a call that was not recorded may be of any thread.
  void number_threads(std::uint64_t hash, const std::vector<std::size_t>& calls) {
    std::vector<std::pair<std::size_t, std::uint64_t>> numbers;
    std::map<std::uint32_t, std::uint64_t> next;  // by thread
    for (std::size_t i = 0; i < calls.size() && ordinal_of(calls[i]) == i + 1; ++i) {
      numbers.emplace_back(calls[i], next[calls_[calls[i]].thread]++);
    }
    if (!do_agree(numbers)) return;
    for (const auto& [index, number] : numbers) {
      set_number(index, number);
      calls_[index].comm_rank = members_.rank_made_on(hash, calls_[index].thread);
    }
  }

  void number_groups(std::size_t member_count, const std::vector<std::size_t>& calls) {
    std::vector<std::pair<std::size_t, std::uint64_t>> numbers;
    for (std::size_t first = 0; first < calls.size(); first += member_count) {
      const std::uint64_t ordinal = ordinal_of(calls[first]);
      if (ordinal == 0 || (ordinal - 1) % member_count != 0 || first + member_count > calls.size()) return;
      const std::uint64_t group = calls_[calls[first]].group;
      for (std::size_t i = 0; i < member_count; ++i) {
        const std::size_t index = calls[first + i];
        if (group == kNoAmount || calls_[index].group != group || ordinal_of(index) != ordinal + i) return;
        numbers.emplace_back(index, (ordinal - 1) / member_count);
      }
    }
    if (!do_agree(numbers)) return;
    for (const auto& [index, number] : numbers) set_number(index, number);
  }

  // Calls with one number are one collective's.
  bool do_agree(const std::vector<std::pair<std::size_t, std::uint64_t>>& numbers) const {
    std::map<std::uint64_t, std::size_t> first;
    return std::all_of(numbers.begin(), numbers.end(), [&](const auto& item) {
      const NcclCall& call = calls_[item.first];
      const NcclCall& other = calls_[first.try_emplace(item.second, item.first).first->second];
      return call.bytes == other.bytes && call.redop == other.redop && call.root == other.root;
    });
  }

  const std::vector<std::uint64_t>& ordinals_;
  const CommMembers& members_;
  std::vector<NcclCall>& calls_;
};

}  // namespace

void number_calls(const std::vector<std::uint64_t>& ordinals, const std::vector<std::size_t>& order,
                  const CommMembers& members, std::vector<NcclCall>* calls) {
  std::map<std::pair<std::uint64_t, runfile::Coll>, Kind> kinds;
  for (const std::size_t index : order) {
    const NcclCall& call = (*calls)[index];
    if (!call.comm_hash) continue;
    Kind& kind = kinds[{*call.comm_hash, call.coll}];
    kind.has_ordinals = kind.has_ordinals || (index < ordinals.size() && ordinals[index] != 0);
    if (call.sequence != kNoAmount) {
      kind.has_numbered = true;
    } else {
      kind.calls.push_back(index);
    }
  }
  Numbering numbering(ordinals, members, calls);
  for (const auto& [key, kind] : kinds) numbering.number(key.first, key.second, kind);
}

}  // namespace jaxprof::match
