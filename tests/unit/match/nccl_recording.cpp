#include "tests/unit/match/nccl_recording.h"

#include "tests/unit/spool/spool_bytes.h"

namespace jaxprof::test {
namespace {

constexpr std::uint32_t kDomain = 1;
constexpr std::uint32_t kContext = 1;
constexpr std::uint64_t kCollSchema = 100;
constexpr std::uint64_t kInitSchema = 101;
constexpr std::uint64_t kRedopEnum = 102;
constexpr std::uint64_t kPeerSchema = 103;
constexpr std::uint64_t kUint64 = 18;
constexpr std::uint64_t kInt32 = 15;

std::uint64_t widen(std::int32_t value) {
  return static_cast<std::uint64_t>(std::int64_t{value});
}

std::uint64_t codes_of(const Call& call, bool has_tuning) {
  spool::NcclCodes codes;
  codes.function = call.function;
  codes.type = call.type;
  if (has_tuning) {
    codes.algorithm = spool::NcclAlgorithm::kRing;
    codes.protocol = spool::NcclProtocol::kSimple;
    codes.channels = 4;
  }
  return spool::pack(codes);
}

}  // namespace

NcclRecording::NcclRecording(std::int32_t rank, std::int32_t rank_count, bool has_plugin)
    : Recording(rank, rank_count, "n" + std::to_string(rank)) {
  domain(kDomain, "NCCL");
  enumeration(kDomain, kRedopEnum, 8, {{0, "Sum"}, {2, "Max"}});
  schema(kDomain, kCollSchema,
         {{"NCCL communicator ID", kUint64}, {"Message size [bytes]", kUint64}, {"Reduction operation", kRedopEnum}});
  schema(kDomain, kInitSchema,
         {{"NCCL communicator ID", kUint64}, {"No. of ranks", kInt32}, {"Rank", kInt32}, {"CUDA device", kInt32}});
  schema(kDomain, kPeerSchema,
         {{"NCCL communicator ID", kUint64}, {"Message size [bytes]", kUint64}, {"Peer rank", kInt32}});
  if (has_plugin) communicator(kContext, kComm, rank, rank_count, 1, "world");
}

void NcclRecording::range(const std::string& api, std::uint64_t start, std::uint64_t end, std::uint64_t bytes,
                          std::uint64_t comm) {
  std::string payload;
  if (bytes > 0) {
    append_bytes(&payload, comm);
    append_bytes(&payload, bytes);
    append_bytes(&payload, std::uint64_t{0});
    payload = payload_of(kCollSchema, payload);
  }
  push(thread_, kDomain, depth_, api, start, payload);
  pop(thread_, kDomain, depth_, end);
}

void NcclRecording::counted_range(const std::string& api, std::uint64_t start, std::uint64_t end, std::uint64_t bytes,
                                  std::uint64_t ordinal) {
  std::string payload;
  append_bytes(&payload, kComm);
  append_bytes(&payload, bytes);
  append_bytes(&payload, std::uint64_t{0});
  const std::uint64_t context = spool::pack(spool::NvtxContext{kDomain, depth_, 0});
  event(thread_, spool::EventKind::kNvtxPush, string(api), start, {context, 0, 0, 0, 0, ordinal},
        payload_of(kCollSchema, payload));
  pop(thread_, kDomain, depth_, end);
}

void NcclRecording::peer_range(const std::string& api, std::uint64_t start, std::uint64_t end, std::uint64_t bytes,
                               std::int32_t peer) {
  std::string payload;
  append_bytes(&payload, kComm);
  append_bytes(&payload, bytes);
  append_bytes(&payload, peer);
  push(thread_, kDomain, depth_, api, start, payload_of(kPeerSchema, payload));
  pop(thread_, kDomain, depth_, end);
}

void NcclRecording::open_range(const std::string& api, std::uint64_t start) {
  push(thread_, kDomain, depth_++, api, start);
}
void NcclRecording::close_range(std::uint64_t end) {
  pop(thread_, kDomain, --depth_, end);
}

void NcclRecording::comm_range(std::int32_t rank, std::int32_t rank_count, std::uint64_t stamp, std::uint64_t comm,
                               std::int32_t device) {
  std::string payload;
  append_bytes(&payload, comm);
  append_bytes(&payload, rank_count);
  append_bytes(&payload, rank);
  append_bytes(&payload, device);
  push(thread_, kDomain, depth_, "ncclCommInitRank", stamp, payload_of(kInitSchema, payload));
  pop(thread_, kDomain, depth_, stamp + 1);
}

std::uint64_t NcclRecording::write(std::uint32_t thread, spool::NcclEvent event, std::vector<std::uint64_t> fields,
                                   std::uint64_t parent, std::uint64_t start, std::uint64_t stop) {
  const std::uint64_t handle = std::uint64_t{thread} << 36 | ++handles_;
  fields.insert(fields.begin(), {handle, kContext, parent});
  this->event(thread, spool::EventKind::kNcclStart, static_cast<std::uint32_t>(event), start, fields);
  this->event(thread, spool::EventKind::kNcclStop, 0, stop, {handle});
  return handle;
}

std::uint64_t NcclRecording::group_api(std::int32_t depth, std::uint64_t start, std::uint64_t stop) {
  return write(thread_, spool::NcclEvent::kGroupApi, {widen(depth), 0}, 0, start, stop);
}

std::uint64_t NcclRecording::coll_api(const Call& call, std::uint64_t parent, std::uint64_t start, std::uint64_t stop) {
  return write(thread_, spool::NcclEvent::kCollApi,
               {codes_of(call, false), call.count, widen(call.root), 0x77, call.is_captured ? 1U : 0U}, parent, start,
               stop);
}

std::uint64_t NcclRecording::p2p_api(const Call& call, std::uint64_t parent, std::uint64_t start, std::uint64_t stop) {
  return write(thread_, spool::NcclEvent::kP2pApi,
               {codes_of(call, false), call.count, 0, 0x77, call.is_captured ? 1U : 0U}, parent, start, stop);
}

std::uint64_t NcclRecording::coll(const Call& call, std::uint64_t parent, std::uint64_t plan, std::uint64_t start,
                                  std::uint64_t stop, std::uint32_t thread) {
  return write(thread, spool::NcclEvent::kColl,
               {call.sequence, codes_of(call, true), call.count, widen(call.root), plan}, parent, start, stop);
}

std::uint64_t NcclRecording::p2p(const Call& call, std::uint64_t parent, std::uint64_t plan, std::uint64_t start,
                                 std::uint64_t stop, std::uint32_t thread) {
  return write(thread, spool::NcclEvent::kP2p, {codes_of(call, false), call.count, widen(call.peer), plan}, parent,
               start, stop);
}

std::uint64_t NcclRecording::group(std::uint64_t start, std::uint64_t stop, std::uint32_t thread) {
  return write(thread, spool::NcclEvent::kGroup, {}, 0, start, stop);
}

std::uint64_t NcclRecording::launch(std::uint64_t stream, std::uint64_t start, std::uint64_t stop,
                                    std::uint32_t thread) {
  return write(thread, spool::NcclEvent::kKernelLaunch, {stream}, 0, start, stop);
}

std::uint64_t NcclRecording::ce_coll(const Call& call, std::uint64_t parent, std::uint64_t start, std::uint64_t stop) {
  return write(thread_, spool::NcclEvent::kCeColl,
               {call.sequence, codes_of(call, false), call.count, widen(call.root), 0x77, 0, 0}, parent, start, stop);
}

void NcclRecording::whole_call(const Call& call, const std::string& api, std::uint64_t start) {
  const std::uint64_t handle = coll_api(call, 0, start + 1, start + 8);
  coll(call, handle, 0, start + 3, start + 5);
  range(api, start, start + 9, call.count * 4);
}

}  // namespace jaxprof::test
