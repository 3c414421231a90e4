// A profiler plugin that believes everything and forgets nothing: it exports ncclProfiler_v5 and writes every callback
// as one text line (record_file.h) to the file PROFILER_RECORDER_FILE names. Descriptors are read by byte offset, from
// the table of the interface and not from anyone's struct, so that a wrong struct on the other side shows. Knobs, all
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

void add_coll(RecordLine& line, const void* d) {
  line.add("type", "Coll");
  add_size(line, "sequence", d, 24), add_text(line, "function", d, 32), add_pointer(line, "send", d, 40);
  add_pointer(line, "receive", d, 48), add_size(line, "count", d, 56), add_int(line, "root", d, 64);
  add_text(line, "datatype", d, 72), add_byte(line, "n_channels", d, 80), add_byte(line, "n_warps", d, 81);
  add_text(line, "algorithm", d, 88), add_text(line, "protocol", d, 96), add_pointer(line, "group", d, 104);
}
void add_p2p(RecordLine& line, const void* d) {
  line.add("type", "P2p");
  add_text(line, "function", d, 24), add_pointer(line, "buffer", d, 32), add_text(line, "datatype", d, 40);
  add_size(line, "count", d, 48), add_int(line, "peer", d, 56), add_byte(line, "n_channels", d, 60);
  add_pointer(line, "group", d, 64);
}
void add_api(RecordLine& line, const void* d, bool is_coll) {
  line.add("type", is_coll ? "CollApi" : "P2pApi");
  add_text(line, "function", d, 24), add_size(line, "count", d, 32), add_text(line, "datatype", d, 40);
  if (is_coll) {
    add_int(line, "root", d, 48);
  }
  add_pointer(line, "stream", d, is_coll ? 56 : 48), add_byte(line, "captured", d, is_coll ? 64 : 56);
}
void add_proxy_op(RecordLine& line, const void* d) {
  line.add("type", "ProxyOp");
  add_int(line, "op_pid", d, 24), add_byte(line, "channel", d, 28), add_int(line, "peer", d, 32);
  add_int(line, "n_steps", d, 36), add_int(line, "chunk_bytes", d, 40), add_int(line, "is_send", d, 44);
}

void add_descriptor(RecordLine& line, const void* d) {
  const auto type = at<std::uint64_t>(d, 0);
  line.hex("bit", type).pointer("parent", at<const void*>(d, 8)).number("rank", at<std::int32_t>(d, 16));
  switch (type) {
    case 1U << 0U:
      line.add("type", "Group");
      break;
    case 1U << 1U:
      add_coll(line, d);
      break;
    case 1U << 2U:
      add_p2p(line, d);
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
      add_api(line, d, type == 1U << 9U);
      break;
    case 1U << 11U:
      line.add("type", "KernelLaunch");
      add_pointer(line, "stream", d, 24);
      break;
    default:
      line.add("type", "other");
      break;
  }
}

using Logger = void (*)(int level, unsigned long flags, const char* file, int line, const char* format, ...);

int init(void** context, std::uint64_t comm_id, int* mask, const char* comm_name, int n_nodes, int n_ranks, int rank,
         Logger logger) {
  static std::atomic<std::uintptr_t> n_contexts{0};
  RecordLine line("init");
  line.hex("comm", comm_id).text("comm_name", comm_name).number("n_nodes", n_nodes).number("n_ranks", n_ranks);
  line.number("comm_rank", rank).hex("mask_before", static_cast<unsigned>(*mask)).pointer("mask_at", mask);
  __atomic_store_n(mask, static_cast<int>(knob("PROFILER_RECORDER_MASK", 0xF1F)), __ATOMIC_RELAXED);
  if (knob("PROFILER_RECORDER_NULL_CONTEXT", 0) == 0) {
    *context = reinterpret_cast<void*>((std::uintptr_t{0xC0} << 32U) | ++n_contexts);
  }
  line.pointer("context", *context);
  file().write(line);
  logger(3, 0x4000, __FILE__, __LINE__, "recorder: communicator %d of %d", rank, n_ranks);
  return static_cast<int>(knob("PROFILER_RECORDER_INIT_RESULT", 0));
}

int start_event(void* context, void** handle, void* descriptor) {
  static std::atomic<std::uintptr_t> n_events{0};
  RecordLine line("start");
  line.pointer("context", context).pointer("stale", *handle);
  if ((at<std::uint64_t>(descriptor, 0) & knob("PROFILER_RECORDER_LEAVE_HANDLES", 0)) == 0) {
    *handle = reinterpret_cast<void*>((std::uintptr_t{0xE0} << 32U) | ++n_events);
  }
  line.pointer("handle", *handle);
  add_descriptor(line, descriptor);
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

struct Plugin {
  const char* name;
  int (*init)(void**, std::uint64_t, int*, const char*, int, int, int, Logger);
  int (*start_event)(void*, void**, void*);
  int (*stop_event)(void*);
  int (*record_event_state)(void*, int, const void*);
  int (*finalize)(void*);
};
static_assert(sizeof(Plugin) == 48);

// Unloading is part of what a test wants to see.
__attribute__((destructor)) void unloaded() {
  file().write(RecordLine("unload"));
}

}  // namespace
}  // namespace jaxprof::doubles

extern "C" __attribute__((visibility("default"))) const jaxprof::doubles::Plugin ncclProfiler_v5 = {
    "recorder",
    jaxprof::doubles::init,
    jaxprof::doubles::start_event,
    jaxprof::doubles::stop_event,
    jaxprof::doubles::record_event_state,
    jaxprof::doubles::finalize,
};
