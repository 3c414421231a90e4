#include "tests/synthetic/arrivals.h"

#include <algorithm>

namespace jaxprof::synthetic {
namespace {

std::uint64_t call_hash(const Slot& slot, const Comm& comm) {
  return test::mix(comm.hash, slot.unit_index);
}

}  // namespace

// The first sound member at `start` or behind it that is not `but`; where none is sound, just another one.
std::uint32_t Arrivals::sound_from(const Comm& comm, std::uint64_t start, std::uint32_t but) const {
  const auto member = [&comm, start](std::uint32_t i) {
    return comm.first + static_cast<std::uint32_t>((start + i) % comm.size);
  };
  for (std::uint32_t i = 0; i < comm.size; ++i) {
    if (member(i) != but && run_.fault_of(member(i)) == nullptr) return member(i);
  }
  return member(0) != but ? member(0) : member(1);
}

std::uint32_t Arrivals::first_of(const Slot& slot, const Comm& comm) const {
  return sound_from(comm, call_hash(slot, comm) % comm.size, UINT32_MAX);
}

std::uint32_t Arrivals::last_of(const Slot& slot, const Comm& comm) const {
  return sound_from(comm, (call_hash(slot, comm) >> 32) % comm.size, first_of(slot, comm));
}

std::int64_t Arrivals::arrival_ns(const Slot& slot, const Comm& comm, std::uint32_t rank) const {
  const FaultyRank* faulty = run_.fault_of(rank);
  const std::int64_t late_ns = faulty == nullptr ? 0 : faulty->fault.late_ns;
  std::int64_t jitter_ns = 0;
  if (rank == last_of(slot, comm)) {
    jitter_ns = kJitterNs;
  } else if (rank != first_of(slot, comm)) {
    jitter_ns = 500 + static_cast<std::int64_t>(test::mix(call_hash(slot, comm), rank) % (kJitterNs - 1'000));
  }
  return slot.ready_ns + jitter_ns + late_ns;
}

// Where fewer than two members are sound: who came first and last of those that recorded the call.
void Arrivals::look_at_all(const Slot& slot, const Comm& comm, CallTruth* truth) const {
  truth->first_ns = INT64_MAX;
  std::int64_t last_ns = INT64_MIN;
  for (std::uint32_t rank = comm.first; rank < comm.first + comm.size; ++rank) {
    if (!run_.records(rank, slot)) continue;
    const std::int64_t own_ns = arrival_ns(slot, comm, rank);
    truth->first_ns = std::min(truth->first_ns, own_ns);
    if (own_ns < last_ns) continue;
    last_ns = own_ns;
    truth->last = rank;
  }
}

CallTruth Arrivals::truth_of(const Slot& slot, const Comm& comm) const {
  CallTruth truth;
  truth.last = last_of(slot, comm);
  truth.last_ns = arrival_ns(slot, comm, truth.last);
  truth.first_ns = arrival_ns(slot, comm, first_of(slot, comm));
  truth.recorded = comm.size;
  std::uint32_t changed = 0;  // members that call with a size of their own
  std::uint64_t least_bytes = UINT64_MAX;
  std::uint64_t most_bytes = 0;
  for (const FaultyRank& faulty : run_.faults_in(comm)) {
    const std::uint32_t rank = faulty.fault.rank;
    if (const std::int64_t own_ns = arrival_ns(slot, comm, rank); own_ns > truth.last_ns) {
      truth.last = rank;
      truth.last_ns = own_ns;
    }
    if (!run_.records(rank, slot)) --truth.recorded;
    const auto change = faulty.changes.find(slot.unit_index);
    if (change == faulty.changes.end() || change->second.function != slot.unit->function) continue;
    if (!run_.records(rank, slot)) continue;
    ++changed;
    least_bytes = std::min(least_bytes, change->second.bytes);
    most_bytes = std::max(most_bytes, change->second.bytes);
  }
  if (truth.recorded > changed) {
    least_bytes = std::min(least_bytes, slot.unit->bytes);
    most_bytes = std::max(most_bytes, slot.unit->bytes);
  }
  truth.is_mismatch = least_bytes < most_bytes;
  const bool is_usual = run_.records(truth.last, slot) && run_.records(first_of(slot, comm), slot) &&
                        run_.fault_of(first_of(slot, comm)) == nullptr;
  if (!is_usual) look_at_all(slot, comm, &truth);
  truth.reporter = comm.first;
  while (truth.recorded > 0 && !run_.records(truth.reporter, slot)) ++truth.reporter;
  return truth;
}

}  // namespace jaxprof::synthetic
