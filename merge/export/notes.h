// What a viewer shows of an event besides its name and time: a few named values (Perfetto's debug annotations).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace jaxprof::exporting {

// Names, in the order of kNoteNames.
enum class NoteName : std::uint8_t {
  kSize,
  kDtype,
  kReduction,
  kAlgorithm,
  kProtocol,
  kCommunicator,
  kCommunicatorRank,
  kPeer,
  kSeq,
  kStep,
  kApi,
  kInstance,
  kTransfer,
  kReplay,
  kLateness,
  kResolved,
  kCertain,
  kTimes,
  kCorrelation,
  kGraph,
  kKind,
  kSource,
  kDestination,
  kDomain,
  kCategory,
  kPayload,
  kNeverEnded,
  kCount,
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(NoteName::kCount)> kNoteNames = {
    "size_bytes", "dtype",    "reduction", "algorithm", "protocol",    "communicator", "communicator_rank",
    "peer",       "seq",      "step",      "api",       "instance",    "transfer",     "replay",
    "late_ns",    "resolved", "certain",   "times",     "correlation", "graph",        "kind",
    "from",       "to",       "domain",    "category",  "payload",     "never_ended"};

struct Note {
  enum class Type : std::uint8_t { kUnsigned, kSigned, kReal, kBool, kText };
  NoteName name;
  Type type;
  std::uint64_t bits;  // of the value; of a text its number among interned ones
};

class Notes {
 public:
  void add(NoteName name, std::uint64_t value) { push({name, Note::Type::kUnsigned, value}); }
  void add_signed(NoteName name, std::int64_t value) {
    push({name, Note::Type::kSigned, static_cast<std::uint64_t>(value)});
  }
  void add_real(NoteName name, double value) { push({name, Note::Type::kReal, std::bit_cast<std::uint64_t>(value)}); }
  void add_bool(NoteName name, bool value) { push({name, Note::Type::kBool, value ? std::uint64_t{1} : 0}); }
  // `text` is a number of Trace::text().
  void add_text(NoteName name, std::uint64_t text) { push({name, Note::Type::kText, text}); }

  std::span<const Note> all() const { return {notes_.data(), n_}; }

 private:
  static constexpr std::size_t kMost = 24;
  void push(const Note& note) {
    if (n_ < kMost) notes_[n_++] = note;
  }

  std::array<Note, kMost> notes_;
  std::size_t n_ = 0;
};

}  // namespace jaxprof::exporting
