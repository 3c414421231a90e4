// What a process could have recorded, put together by hand: registrations, anchors and events of any thread, turned
// into the bytes of its spool. For the tests of everything that reads spools. Stamps are ticks of an event clock that
// runs at one tick a nanosecond unless a test adds other anchors.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/contract/session_page.h"
#include "agent/spool/block.h"
#include "agent/spool/event_record.h"
#include "agent/spool/identity.h"
#include "agent/spool/state_record.h"

namespace jaxprof::test {

struct EntryPlan {
  std::string name;
  std::uint64_t type = 0;
  std::uint64_t offset = 0;
  std::uint64_t flags = 0;
  std::uint64_t detail = 0;
};

class SpoolBytes;

class Recording {
 public:
  // Identity of rank `rank` of run "7.0.0" on `host`, which is a node of its own.
  explicit Recording(std::int64_t rank = 0, std::int64_t world_size = 1, const std::string& host = "n0");

  void set(spool::IdentityKey key, const std::string& text) { texts_[key] = text; }
  void set(spool::IdentityKey key, std::int64_t number) { numbers_[key] = number; }

  // ---- state
  spool::StringId string(std::string_view text);
  void domain(std::uint32_t number, std::string_view name);
  void category(std::uint32_t domain, std::uint32_t category, std::string_view name);
  void schema(std::uint32_t domain, std::uint64_t id, const std::vector<EntryPlan>& entries,
              std::uint64_t alignment = 0);
  void enumeration(std::uint32_t domain, std::uint64_t id, std::uint64_t value_bytes,
                   const std::vector<std::pair<std::uint64_t, std::string>>& names);
  void thread(std::uint32_t thread, std::uint32_t tid);
  void communicator(std::uint32_t number, std::uint64_t hash, std::int32_t rank, std::int32_t rank_count,
                    std::int32_t node_count = 1, std::string_view name = "");
  template <typename Fixed>
  void state(spool::StateKind kind, Fixed fixed, std::string tail = {}) {
    append_state(kind, &fixed, sizeof fixed, std::move(tail));
  }

  // ---- clocks and losses
  void anchor(const spool::AnchorRecord& anchor) { anchors_.push_back(anchor); }
  void drop(Drop drop, std::uint64_t count) { drops_.push_back({static_cast<std::uint32_t>(drop), 0, count}); }

  // Without it, recordings of one identity have one file id, like copies of a file.
  void set_file_id(std::uint64_t file_id) { file_id_ = file_id; }

  // The process died, and what it had not written was saved.
  void save_after_death() { footer_reason_ = spool::FooterReason::kSaved; }
  // Its recording was stopped at that CLOCK_REALTIME while it went on.
  void stop(spool::FooterReason reason, std::int64_t realtime_ns) {
    footer_reason_ = reason;
    footer_realtime_ns_ = realtime_ns;
  }

  // ---- events; each thread's come out in this order, in a new block whenever the thread changes
  void event(std::uint32_t thread, spool::EventKind kind, std::uint32_t id, std::uint64_t stamp,
             const std::vector<std::uint64_t>& fields, const std::string& payload = {});
  void push(std::uint32_t thread, std::uint32_t domain, std::uint16_t depth, std::string_view message,
            std::uint64_t stamp, const std::string& payload = {});
  void pop(std::uint32_t thread, std::uint32_t domain, std::uint16_t depth, std::uint64_t stamp,
           const std::string& payload = {});

  // ---- GPUs; in blocks of their own, in this order
  void activity(spool::EventKind kind, std::uint32_t id, std::uint64_t start_ns, std::int64_t length_ns,
                std::vector<std::uint64_t> more_fields = {});
  // A stream of CUDA's device `device`, as lane `lane`, with the address by which programs know it.
  void lane(std::uint32_t lane, std::uint32_t device, std::uint32_t stream, std::uint64_t address = 0);
  void kernel(std::string_view name, std::uint64_t start_ns, std::int64_t length_ns, std::uint64_t lane,
              std::uint64_t correlation, std::uint64_t graph_node = 0);
  void copy(std::uint64_t start_ns, std::int64_t length_ns, std::uint64_t lane, std::uint64_t correlation,
            std::uint64_t bytes = 64);
  void api_call(std::uint64_t start_ns, std::int64_t length_ns, std::uint32_t tid, std::uint64_t correlation);
  void external(std::uint64_t handle, std::uint64_t correlation);
  void graph_node(std::uint64_t node, std::uint64_t original, std::uint64_t launch);
  // CUPTI's clock reads `gpu_ns` when the event clock reads `counter`.
  void gpu_clock(std::uint64_t counter, std::int64_t gpu_ns, std::uint64_t bracket = 100);
  void segment(std::uint32_t segment, bool is_open, spool::WindowCause cause, std::uint64_t stamp,
               std::uint64_t step = 0);

  // Without an anchor of its own, one at stamp 0 (which is 1 s after the epoch) and one at 1000 s.
  std::string bytes(bool has_footer = true) const;
  // Writes them to `folder`/`name` and returns the path.
  std::string write(const std::string& folder, const std::string& name, bool has_footer = true) const;

 private:
  struct ThreadEvent {
    std::uint32_t thread;
    std::string record;  // an EventHeader and what follows it
  };

  static std::string record_of(spool::EventKind kind, std::uint32_t id, std::uint64_t stamp,
                               const std::vector<std::uint64_t>& fields, const std::string& payload);
  static void write_events(const std::vector<ThreadEvent>& events, spool::BlockKind kind, SpoolBytes* to);
  void append_state(spool::StateKind kind, void* fixed, std::size_t bytes, std::string tail);
  std::string identity_payload() const;

  std::map<spool::IdentityKey, std::string> texts_;
  std::map<spool::IdentityKey, std::int64_t> numbers_;
  std::map<std::string, spool::StringId, std::less<>> strings_;
  std::string state_;
  std::vector<spool::AnchorRecord> anchors_;
  std::vector<spool::CounterRecord> drops_;
  std::optional<std::uint64_t> file_id_;
  spool::FooterReason footer_reason_ = spool::FooterReason::kExit;
  std::int64_t footer_realtime_ns_ = 0;
  std::vector<ThreadEvent> events_;
  std::vector<ThreadEvent> activities_;  // of thread 0
};

// A PayloadHeader of `schema` and `bytes`, padded as the agent does.
std::string payload_of(std::uint64_t schema, std::string bytes);

}  // namespace jaxprof::test
