// A profiler plugin that believes everything and forgets nothing: it exports ncclProfiler_v1 to _v7 and writes every
// callback as one text line (record_file.h) to the file PROFILER_RECORDER_FILE names. Descriptors are read by byte
// offset, from the table of the interface and not from anyone's struct, so that a wrong struct on the other side shows;
// numbers that version 1 has for names are written as numbers. Knobs, all
// environment variables: PROFILER_RECORDER_MASK (the event mask it asks for, default all it knows), _NULL_CONTEXT=1
// (init gives no context), _LEAVE_HANDLES=MASK (types whose *handle it does not write), _INIT_RESULT (init returns it).
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "tests/doubles/record_file.h"

namespace jaxprof::doubles {
namespace {

const RecordFile& file() {
  static const RecordFile record_file = RecordFile::from_environment("PROFILER_RECORDER_FILE");
  return record_file;
}

unsigned long knob(const char* name, unsigned long otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoul(text, nullptr, 0);
}

template <typename Value>
Value at(const void* descriptor, std::size_t offset) {
  Value value;
  std::memcpy(&value, static_cast<const char*>(descriptor) + offset, sizeof value);
  return value;
}
void add_text(RecordLine& line, const char* key, const void* descriptor, std::size_t offset) {
  line.text(key, at<const char*>(descriptor, offset));
}
void add_pointer(RecordLine& line, const char* key, const void* descriptor, std::size_t offset) {
  line.pointer(key, at<const void*>(descriptor, offset));
}
void add_int(RecordLine& line, const char* key, const void* descriptor, std::size_t offset) {
  line.number(key, at<std::int32_t>(descriptor, offset));
}
void add_size(RecordLine& line, const char* key, const void* descriptor, std::size_t offset) {
  line.unsigned_number(key, at<std::uint64_t>(descriptor, offset));
}
void add_byte(RecordLine& line, const char* key, const void* descriptor, std::size_t offset) {
  line.number(key, at<std::uint8_t>(descriptor, offset));
}

// A name, or in version 1 its number.
void add_name(RecordLine& line, int version, const char* key, const void* descriptor, std::size_t offset) {
  version == 1 ? add_byte(line, key, descriptor, offset) : add_text(line, key, descriptor, offset);
}
// Up to version 3 calls name their communicator.
void add_comm(RecordLine& line, int version, const void* d) {
  if (version <= 3) {
    add_text(line, "comm_name", d, 24);
    line.hex("comm", at<std::uint64_t>(d, 32));
  }
}

// Offsets of a collective's fields by version; 0: it does not have it.
struct CollOffsets {
  std::size_t sequence, function, send, receive, count, root, datatype, n_channels, algorithm, protocol, group, tag;
};
constexpr CollOffsets kCollOffsets[] = {{},
                                        {40, 48, 56, 64, 72, 80, 84, 104, 106, 107, 0, 0},
                                        {40, 48, 56, 64, 72, 80, 88, 104, 112, 120, 0, 0},
                                        {40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 0, 0},
                                        {24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 0, 0},
                                        {24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 0},
                                        {24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 0},
                                        {24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 128}};

void add_coll(RecordLine& line, int version, const void* d) {
  const CollOffsets& offsets = kCollOffsets[version];
  line.add("type", "Coll");
  add_comm(line, version, d);
  add_size(line, "sequence", d, offsets.sequence), add_name(line, version, "function", d, offsets.function);
  add_pointer(line, "send", d, offsets.send), add_pointer(line, "receive", d, offsets.receive);
  add_size(line, "count", d, offsets.count), add_int(line, "root", d, offsets.root);
  add_name(line, version, "datatype", d, offsets.datatype);
  add_byte(line, "n_channels", d, offsets.n_channels), add_byte(line, "n_warps", d, offsets.n_channels + 1);
  add_name(line, version, "algorithm", d, offsets.algorithm), add_name(line, version, "protocol", d, offsets.protocol);
  if (offsets.group != 0) {
    add_pointer(line, "group", d, offsets.group);
  }
  if (offsets.tag != 0) {
    add_text(line, "variant", d, 112), add_byte(line, "is_symmetric", d, 120), add_size(line, "tag", d, offsets.tag);
  }
}
void add_p2p(RecordLine& line, int version, const void* d) {
  const std::size_t function = version <= 3 ? 40 : 24;
  line.add("type", "P2p");
  add_comm(line, version, d);
  add_name(line, version, "function", d, function), add_pointer(line, "buffer", d, function + 8);
  add_name(line, version, "datatype", d, function + 16), add_size(line, "count", d, function + 24);
  add_int(line, "peer", d, function + 32);
  if (version >= 4) {
    add_byte(line, "n_channels", d, 60);
  }
  if (version >= 5) {
    add_pointer(line, "group", d, 64);
  }
  if (version >= 7) {
    add_size(line, "tag", d, 72);
  }
}
void add_api(RecordLine& line, int version, const void* d, bool is_coll) {
  line.add("type", is_coll ? "CollApi" : "P2pApi");
  add_text(line, "function", d, 24), add_size(line, "count", d, 32), add_text(line, "datatype", d, 40);
  if (is_coll) {
    add_int(line, "root", d, 48);
  }
  add_pointer(line, "stream", d, is_coll ? 56 : 48), add_byte(line, "captured", d, is_coll ? 64 : 56);
  if (version >= 7) {
    add_size(line, "tag", d, is_coll ? 72 : 64);
  }
}
void add_ce_coll(RecordLine& line, int version, const void* d) {
  line.add("type", "CeColl");
  add_size(line, "sequence", d, 24), add_text(line, "function", d, 32), add_size(line, "count", d, 56);
  add_int(line, "root", d, 64), add_text(line, "datatype", d, 72), add_text(line, "sync", d, 80);
  add_int(line, "ce_sequence", d, 100), add_pointer(line, "stream", d, 104);
  if (version >= 7) {
    add_size(line, "tag", d, 112);
  }
}
void add_proxy_op(RecordLine& line, const void* d) {
  line.add("type", "ProxyOp");
  add_int(line, "op_pid", d, 24), add_byte(line, "channel", d, 28), add_int(line, "peer", d, 32);
  add_int(line, "n_steps", d, 36), add_int(line, "chunk_bytes", d, 40), add_int(line, "is_send", d, 44);
}

void add_descriptor(RecordLine& line, int version, std::uint64_t type, const void* d) {
  line.hex("bit", type).pointer("parent", at<const void*>(d, 8)).number("rank", at<std::int32_t>(d, 16));
  switch (type) {
    case 1U << 0U:
      line.add("type", "Group");
      break;
    case 1U << 1U:
      add_coll(line, version, d);
      break;
    case 1U << 2U:
      add_p2p(line, version, d);
      break;
    case 1U << 3U:
      add_proxy_op(line, d);
      break;
    case 1U << 4U:
      line.add("type", "ProxyStep");
      add_int(line, "step", d, 24);
      break;
    case 1U << 8U:
      line.add("type", "GroupApi");
      add_byte(line, "captured", d, 24), add_int(line, "depth", d, 28);
      break;
    case 1U << 9U:
    case 1U << 10U:
      add_api(line, version, d, type == 1U << 9U);
      break;
    case 1U << 11U:
      line.add("type", "KernelLaunch");
      add_pointer(line, "stream", d, 24);
      break;
    case 1U << 6U:
      line.add("type", "KernelCh");
      add_byte(line, "channel", d, 24);
      if (version >= 4) {
        add_size(line, "timer", d, 32);
      }
      break;
    case 1U << 12U:
      add_ce_coll(line, version, d);
      break;
    default:
      line.add("type", "other");
      break;
  }
}

using Logger = void (*)(int level, unsigned long flags, const char* file, int line, const char* format, ...);

// All events but those that flood, or that only a GPU could fill.
unsigned long default_mask(int version) {
  return version <= 4 ? 0x1F : version == 5 ? 0xF1F : 0x1F1F;
}

int begin(int version, RecordLine* line, void** context, int* mask) {
  static std::atomic<std::uintptr_t> n_contexts{0};
  line->number("version", version).hex("mask_before", static_cast<unsigned>(*mask)).pointer("mask_at", mask);
  __atomic_store_n(mask, static_cast<int>(knob("PROFILER_RECORDER_MASK", default_mask(version))), __ATOMIC_RELAXED);
  if (knob("PROFILER_RECORDER_NULL_CONTEXT", 0) == 0) {
    *context = reinterpret_cast<void*>((std::uintptr_t{0xC0} << 32U) | ++n_contexts);
  }
  line->pointer("context", *context);
  file().write(*line);
  return static_cast<int>(knob("PROFILER_RECORDER_INIT_RESULT", 0));
}

int begin_named(int version, void** context, std::uint64_t comm_id, int* mask, const char* comm_name, int n_nodes,
                int n_ranks, int rank, Logger logger) {
  RecordLine line("init");
  line.hex("comm", comm_id).text("comm_name", comm_name).number("n_nodes", n_nodes).number("n_ranks", n_ranks);
  line.number("comm_rank", rank);
  logger(3, 0x4000, __FILE__, __LINE__, "recorder: communicator %d of %d", rank, n_ranks);
  return begin(version, &line, context, mask);
}

template <int version>
int init_v1(void** context, int* mask) {
  RecordLine line("init");
  return begin(version, &line, context, mask);
}
int init_v4(void** context, int* mask, const char* comm_name, std::uint64_t comm_id, int n_nodes, int n_ranks, int rank,
            Logger logger) {
  return begin_named(4, context, comm_id, mask, comm_name, n_nodes, n_ranks, rank, logger);
}
template <int version>
int init_v5(void** context, std::uint64_t comm_id, int* mask, const char* comm_name, int n_nodes, int n_ranks, int rank,
            Logger logger) {
  return begin_named(version, context, comm_id, mask, comm_name, n_nodes, n_ranks, rank, logger);
}

template <int version>
int start_event(void* context, void** handle, void* descriptor) {
  static std::atomic<std::uintptr_t> n_events{0};
  const std::uint64_t type = version <= 4 ? at<std::uint8_t>(descriptor, 0) : at<std::uint64_t>(descriptor, 0);
  RecordLine line("start");
  line.pointer("context", context).pointer("stale", *handle);
  if ((type & knob("PROFILER_RECORDER_LEAVE_HANDLES", 0)) == 0) {
    *handle = reinterpret_cast<void*>((std::uintptr_t{0xE0} << 32U) | ++n_events);
  }
  line.pointer("handle", *handle);
  add_descriptor(line, version, type, descriptor);
  file().write(line);
  return 0;
}

int stop_event(void* handle) {
  file().write(RecordLine("stop").pointer("handle", handle));
  return 0;
}

int record_event_state(void* handle, int state, const void* arguments) {
  RecordLine line("state");
  line.pointer("handle", handle).number("state", state);
  if (arguments != nullptr) {
    line.unsigned_number("argument", at<std::uint64_t>(arguments, 0));
  }
  file().write(line);
  return 0;
}

int finalize(void* context) {
  file().write(RecordLine("finalize").pointer("context", context));
  return 0;
}

template <typename Init>
struct Plugin {
  const char* name;
  Init init;
  int (*start_event)(void*, void**, void*);
  int (*stop_event)(void*);
  int (*record_event_state)(void*, int, const void*);
  int (*finalize)(void*);
};
using PluginV1 = Plugin<decltype(&init_v1<1>)>;
using PluginV4 = Plugin<decltype(&init_v4)>;
using PluginV5 = Plugin<decltype(&init_v5<5>)>;
static_assert(sizeof(PluginV1) == 48);

template <int version, typename Init>
constexpr Plugin<Init> plugin(Init init) {
  return {"recorder", init, start_event<version>, stop_event, record_event_state, finalize};
}

// Unloading is part of what a test wants to see.
__attribute__((destructor)) void unloaded() {
  file().write(RecordLine("unload"));
}

}  // namespace
}  // namespace jaxprof::doubles

using namespace jaxprof::doubles;  // NOLINT: the symbols below are NCCL's
#define RECORDER_EXPORT extern "C" __attribute__((visibility("default"))) const
RECORDER_EXPORT PluginV1 ncclProfiler_v1 = plugin<1>(&init_v1<1>);
RECORDER_EXPORT PluginV1 ncclProfiler_v2 = plugin<2>(&init_v1<2>);
RECORDER_EXPORT PluginV1 ncclProfiler_v3 = plugin<3>(&init_v1<3>);
RECORDER_EXPORT PluginV4 ncclProfiler_v4 = plugin<4>(&init_v4);
RECORDER_EXPORT PluginV5 ncclProfiler_v5 = plugin<5>(&init_v5<5>);
RECORDER_EXPORT PluginV5 ncclProfiler_v6 = plugin<6>(&init_v5<6>);
RECORDER_EXPORT PluginV5 ncclProfiler_v7 = plugin<7>(&init_v5<7>);
