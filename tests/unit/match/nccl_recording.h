// A process that calls NCCL 2.28, recorded: its NVTX ranges with NCCL's payloads, and its plugin's events. Each
// function takes stamps and writes one event pair; the test decides what is there and in which order.
#pragma once

#include <cstdint>
#include <string>

#include "tests/unit/spool/recording.h"

namespace jaxprof::test {

struct Call {
  spool::NcclFunction function = spool::NcclFunction::kAllReduce;
  spool::NcclType type = spool::NcclType::kFloat32;
  std::uint64_t count = 1024;
  std::uint64_t sequence = 0;
  std::int32_t root = -1;
  std::int32_t peer = -1;
  bool is_captured = false;
};

class NcclRecording : public Recording {
 public:
  static constexpr std::uint32_t kThread = 1;
  static constexpr std::uint64_t kComm = 0xabcdef;

  // The process is member `rank` of a communicator of `rank_count` that its plugin knows, unless it has none.
  explicit NcclRecording(std::int32_t rank = 0, std::int32_t rank_count = 2, bool has_plugin = true);

  // A range of "NCCL" on kThread. `bytes` 0: without payload; `comm` as in NCCL's payload.
  void range(const std::string& api, std::uint64_t start, std::uint64_t end, std::uint64_t bytes = 0,
             std::uint64_t comm = kComm);
  // The same with nvtx_field::kCallOrdinal, as of the agent's count.
  void counted_range(const std::string& api, std::uint64_t start, std::uint64_t end, std::uint64_t bytes,
                     std::uint64_t ordinal);
  // ncclSend or ncclRecv, whose payload names the peer.
  void peer_range(const std::string& api, std::uint64_t start, std::uint64_t end, std::uint64_t bytes,
                  std::int32_t peer);
  // A range without a payload of its own, around others.
  void open_range(const std::string& api, std::uint64_t start);
  void close_range(std::uint64_t end);
  // ncclCommInitRank's range, which tells rank, size and CUDA device.
  void comm_range(std::int32_t rank, std::int32_t rank_count, std::uint64_t stamp, std::uint64_t comm = kComm,
                  std::int32_t device = -1);

  // Plugin events; each returns its handle.
  std::uint64_t group_api(std::int32_t depth, std::uint64_t start, std::uint64_t stop);
  std::uint64_t coll_api(const Call& call, std::uint64_t parent, std::uint64_t start, std::uint64_t stop);
  std::uint64_t p2p_api(const Call& call, std::uint64_t parent, std::uint64_t start, std::uint64_t stop);
  std::uint64_t coll(const Call& call, std::uint64_t parent, std::uint64_t plan, std::uint64_t start,
                     std::uint64_t stop, std::uint32_t thread = kThread);
  std::uint64_t p2p(const Call& call, std::uint64_t parent, std::uint64_t plan, std::uint64_t start, std::uint64_t stop,
                    std::uint32_t thread = kThread);
  std::uint64_t group(std::uint64_t start, std::uint64_t stop, std::uint32_t thread = kThread);
  std::uint64_t launch(std::uint64_t stream, std::uint64_t start, std::uint64_t stop, std::uint32_t thread = kThread);
  std::uint64_t ce_coll(const Call& call, std::uint64_t parent, std::uint64_t start, std::uint64_t stop);
  // All three of a plain call at `start`: range, CollApi and Coll.
  void whole_call(const Call& call, const std::string& api, std::uint64_t start);

  // To put a call on another thread.
  void use_thread(std::uint32_t thread) { thread_ = thread; }

 private:
  std::uint64_t write(std::uint32_t thread, spool::NcclEvent event, std::vector<std::uint64_t> fields,
                      std::uint64_t parent, std::uint64_t start, std::uint64_t stop);

  std::uint32_t thread_ = kThread;
  std::uint16_t depth_ = 0;
  std::uint64_t handles_ = 0;
};

}  // namespace jaxprof::test
