#include "merge/mpi/part_messages.h"

#include <cereal/archives/binary.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>
#include <cstring>
#include <ostream>
#include <streambuf>
#include <string>
#include <type_traits>
#include <utility>

#include "merge/mpi/message_input.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof {
namespace {

// Vectors of plain memory go as they lie there, whatever their elements are called.
template <typename Archive, typename T>
void save_column(Archive& archive, const std::vector<T>& column) {
  static_assert(std::is_trivially_copyable_v<T>);
  archive(static_cast<std::uint64_t>(column.size()));
  archive(cereal::binary_data(column.data(), column.size() * sizeof(T)));
}

template <typename Archive, typename T>
void load_column(Archive& archive, std::vector<T>& column) {
  column.resize(archive.count(sizeof(T)));
  archive(cereal::binary_data(column.data(), column.size() * sizeof(T)));
}

template <typename Archive, typename Plain>
void serialize_plain(Archive& archive, Plain& plain) {
  static_assert(std::is_trivially_copyable_v<Plain>);
  archive(cereal::binary_data(&plain, sizeof plain));
}

}  // namespace

namespace assembly {

template <typename Archive>
void serialize(Archive& archive, RowCounts& counts) {
  serialize_plain(archive, counts);
}
template <typename Archive>
void serialize(Archive& archive, Segment& segment) {
  archive(segment.number, segment.open_ns, segment.close_ns, segment.open_cause, segment.close_cause, segment.open_step,
          segment.close_step, segment.first_step);
}
template <typename Archive>
void serialize(Archive& archive, PartDevice& device) {
  archive(device.ordinal, device.name);
  serialize_plain(archive, device.state);
}
template <typename Archive>
void serialize(Archive& archive, UnmarkedSteps& marks) {
  serialize_plain(archive, marks.marker);
  archive(marks.alternatives, marks.windows, marks.was_ever_open);
}
template <typename Archive>
void save(Archive& archive, const RankSteps& steps) {
  archive(steps.rank, steps.stretches, steps.sources, steps.shared);
  save_column(archive, steps.numbers.stretches());
}
template <typename Archive>
void load(Archive& archive, RankSteps& steps) {
  archive(steps.rank, steps.stretches, steps.sources, steps.shared);
  std::vector<StepNumbers::Stretch> stretches;
  load_column(archive, stretches);
  steps.numbers = StepNumbers::of_stretches(std::move(stretches));
}
template <typename Archive>
void serialize(Archive& archive, StepSet& steps) {
  archive(steps.has_steps, steps.own, steps.marker, steps.marks);
}
template <typename Archive>
void serialize(Archive& archive, Place& place) {
  serialize_plain(archive, place);
}
template <typename Archive>
void serialize(Archive& archive, Finding& finding) {
  archive(finding.severity, finding.code, finding.place, finding.count, finding.text);
}
template <typename Archive>
void save(Archive& archive, const Diagnostics& diagnostics) {
  archive(diagnostics.findings());
}
template <typename Archive>
void load(Archive& archive, Diagnostics& diagnostics) {
  std::vector<Finding> findings;
  archive(findings);
  for (Finding& f : findings) diagnostics.add(f.severity, f.code, f.place, f.count, std::move(f.text));
}
template <typename Archive>
void save(Archive& archive, const LaunchConfigs& configs) {
  runfile::for_each_column(configs.table(), [&](const auto&, const auto& column) { save_column(archive, column); });
}
template <typename Archive>
void load(Archive& archive, LaunchConfigs& configs) {
  runfile::LaunchConfigTable table;
  runfile::for_each_column(table, [&](const auto&, auto& column) { load_column(archive, column); });
  runfile::for_each_column(table, [&](const auto&, const auto& column) {
    if (column.size() != runfile::n_rows(table)) throw cereal::Exception("has columns of different lengths");
  });
  for (std::size_t row = 0; row < runfile::n_rows(table); ++row) configs.row_of(table, row);
}
template <typename Archive>
void save(Archive& archive, const StoredCalls& calls) {
  runfile::for_each_column(calls.rows, [&](const auto&, const auto& column) { save_column(archive, column); });
  save_column(archive, calls.comm_hashes);
  save_column(archive, calls.calls_in_plan);
}
template <typename Archive>
void load(Archive& archive, StoredCalls& calls) {
  runfile::for_each_column(calls.rows, [&](const auto&, auto& column) { load_column(archive, column); });
  load_column(archive, calls.comm_hashes);
  load_column(archive, calls.calls_in_plan);
}
template <typename Archive>
void serialize(Archive& archive, PartHead& head) {
  archive(head.strings, head.configs, head.counts, head.comms, head.devices, head.segments, head.steps, head.n_events,
          head.gpu_clock_residual_ns, head.has_lost_gpu_work, head.findings);
}
template <typename Archive>
void save(Archive& archive, const Placement& placement) {
  archive(placement.epoch_ns, placement.first_rows, placement.devices, placement.configs);
  save_column(archive, placement.texts);
}
template <typename Archive>
void load(Archive& archive, Placement& placement) {
  archive(placement.epoch_ns, placement.first_rows, placement.devices, placement.configs);
  load_column(archive, placement.texts);
}

}  // namespace assembly

namespace match {

template <typename Archive>
void serialize(Archive& archive, ProcessComm& comm) {
  archive(comm.hash, comm.rank, comm.rank_count, comm.node_count, comm.device, comm.thread, comm.name);
}

}  // namespace match

namespace runfile {

template <typename Archive>
void save(Archive& archive, const StringTable& strings) {
  archive(static_cast<std::uint64_t>(strings.size()));
  for (std::size_t id = 0; id < strings.size(); ++id) archive(std::string(strings.text(static_cast<StringId>(id))));
}
template <typename Archive>
void load(Archive& archive, StringTable& strings) {
  const std::uint64_t size = archive.count(sizeof(std::uint64_t));
  strings = StringTable::without_texts();
  for (std::uint64_t id = 0; id < size; ++id) {
    std::string text;
    archive(text);
    strings.append(text);
  }
}

}  // namespace runfile

namespace merge {
namespace {

// Appends to a message.
class MessageWriter : public std::streambuf {
 public:
  explicit MessageWriter(Message* to) : to_(*to) {}

 protected:
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    const auto* bytes = reinterpret_cast<const std::byte*>(text);
    to_.insert(to_.end(), bytes, bytes + count);
    return count;
  }
  int_type overflow(int_type character) override {
    to_.push_back(static_cast<std::byte>(character));
    return character;
  }

 private:
  Message& to_;
};

template <typename T>
void append(const T& value, Message* message) {
  MessageWriter buffer(message);
  std::ostream stream(&buffer);
  cereal::BinaryOutputArchive archive(stream);
  archive(value);
}

tl::unexpected<Error> damaged(const std::string& how) {
  return fail(ErrorCode::kInputUnreadable, "a message of another process of this merge " + how);
}

template <typename T>
Result<T> read(std::span<const std::byte> message) {
  try {
    MessageInput archive(message);
    T value;
    archive(value);
    if (!archive.is_done()) return damaged("is too long");
    return value;
  } catch (const cereal::Exception& error) {
    return damaged(error.what());
  }
}

struct RowsHeader {
  std::uint64_t early = 0;
  std::uint64_t calls_bytes = 0;
};

}  // namespace

Message pack(const assembly::PartHead& head) {
  Message message;
  append(head, &message);
  return message;
}

Result<assembly::PartHead> unpack_head(const Message& message) {
  return read<assembly::PartHead>(message);
}

Message pack(const assembly::Placement& placement) {
  Message message;
  append(placement, &message);
  return message;
}

Result<assembly::Placement> unpack_placement(const Message& message) {
  return read<assembly::Placement>(message);
}

Message pack(const assembly::PlacedPart& part) {
  Message message(sizeof(RowsHeader));
  append(part.calls, &message);
  const RowsHeader header{part.early, message.size() - sizeof(RowsHeader)};
  std::memcpy(message.data(), &header, sizeof header);
  const auto rows = std::get<runfile::EncodedPart>(part.rows).packed();
  message.insert(message.end(), rows.begin(), rows.end());
  return message;
}

Result<assembly::PlacedPart> unpack_rows(const Message& message) {
  std::span<const std::byte> bytes(message);
  RowsHeader header;
  if (bytes.size() < sizeof header) return damaged("is cut");
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes = bytes.subspan(sizeof header);
  if (header.calls_bytes > bytes.size()) return damaged("counts more than it holds");
  assembly::PlacedPart part;
  part.early = header.early;
  auto calls = read<assembly::StoredCalls>(bytes.first(header.calls_bytes));
  if (!calls) return tl::unexpected(std::move(calls.error()));
  part.calls = std::move(*calls);
  auto rows = runfile::EncodedPart::unpacked(bytes.subspan(header.calls_bytes));
  if (!rows) return tl::unexpected(std::move(rows.error()));
  part.rows = std::move(*rows);
  return part;
}

Message pack(const assembly::RunSources& sources) {
  std::vector<std::pair<std::string, std::uint64_t>> spools;
  for (const auto& process : sources.processes) {
    spools.emplace_back(process.trace.path(), process.trace.health().file_bytes);
  }
  for (const auto& observer : sources.observers)
    spools.emplace_back(observer.trace.path(), observer.trace.anchors().size());
  Message message;
  append(spools, &message);
  append(sources.run_id, &message);
  return message;
}

}  // namespace merge
}  // namespace jaxprof
