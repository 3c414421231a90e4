// A Perfetto trace while it is written: packets with tracks, slices, instants and values, and the texts that they name
// by number. Which slices lie on which track is the callers'. One sequence of packets, and one clock, the run's time
// axis: declared as BOOTTIME, which is what viewers take packets without a clock for, 0 at the run's epoch.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "merge/export/byte_file.h"
#include "merge/export/interned_texts.h"
#include "merge/export/notes.h"
#include "merge/runfile/string_table.h"

namespace jaxprof::exporting {

enum class Category : std::uint8_t { kStep, kNvtx, kNcclCall, kCollective, kKernel, kMemop, kLate, kCount };
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Category::kCount)> kCategoryNames = {
    "step", "nvtx", "nccl_call", "collective", "kernel", "memop", "late"};

struct Slice {
  std::int64_t start_ns = 0;  // on the run's time axis, not negative
  std::int64_t end_ns = 0;    // not before it
  std::uint64_t name = 0;     // a number of Trace::name()
  Category category = Category::kKernel;
  Notes notes{};
  std::uint64_t flow = 0;  // joins it with others that have the same; 0: none
};

struct TrackPlan {
  std::uint64_t parent = 0;  // 0: none
  std::string name;
  std::int32_t order = 0;  // among those of one parent
  bool is_counter = false;
  std::string unit{};  // of a counter: "bytes/s"
};

// One thread. Failures of writing are told by the file.
class Trace {
 public:
  // `strings` and `file` outlive it. `epoch_unix_ns`: zero of the run's time axis.
  Trace(ByteFile& file, const runfile::StringTable& strings, std::int64_t epoch_unix_ns);

  // Both give the track's number, unique in the trace. `pid` is what viewers tell processes apart by.
  std::uint64_t add_process(std::int32_t pid, std::string_view name, std::int32_t order);
  std::uint64_t add_track(const TrackPlan& plan);

  void begin(std::uint64_t track, const Slice& slice);
  void end(std::uint64_t track, std::int64_t t_ns);
  void instant(std::uint64_t track, const Slice& mark);  // its end is not looked at
  void value(std::uint64_t track, std::int64_t t_ns, double value);

  // Numbers of texts, for names of slices and for values of notes. What is not UTF-8 becomes U+FFFD.
  std::uint64_t name(runfile::StringId id);
  std::uint64_t name(std::string_view text);
  std::uint64_t text(runfile::StringId id);
  std::uint64_t text(std::string_view text);

  std::uint64_t n_slices() const { return n_slices_; }

 private:
  void write_head(std::int64_t epoch_unix_ns);
  void write_interned(int field, std::uint64_t number, std::string_view text);
  template <typename Fill>
  void write_event(std::int32_t type, std::uint64_t track, std::int64_t t_ns, const Fill& fill);
  void write_slice(std::int32_t type, std::uint64_t track, const Slice& slice);

  ByteFile* file_;
  const runfile::StringTable* strings_;
  InternedTexts names_;
  InternedTexts texts_;
  std::uint64_t n_tracks_ = 0;
  std::uint64_t n_slices_ = 0;
};

}  // namespace jaxprof::exporting
