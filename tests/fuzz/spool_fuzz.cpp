// One spool, by everything that reads spools: frame, every payload parser, and the trace that the merge works on.
#include "merge/rundir/spool_trace.h"
#include "tests/fuzz/planted_fault.h"
#include "tests/fuzz/spool_recipe.h"

namespace {

using namespace jaxprof;

// The parsers by themselves, each on every payload, whatever its kind says.
void parse_all(std::span<const std::uint8_t> payload) {
  const spool::SpoolIdentity identity = spool::SpoolIdentity::parse(payload);
  (void)identity.text(spool::IdentityKey::kRunId);
  (void)identity.number(spool::IdentityKey::kRank);
  fuzz::demand(spool::parse_anchors(payload).size() <= payload.size(), "no more anchors than bytes");
  spool::Footer footer;
  (void)spool::parse_footer(payload, &footer);
  spool::StateDecoder decoder(payload);
  spool::StateKind kind{};
  std::span<const std::uint8_t> record;
  std::size_t total = 0;
  while (decoder.next(&kind, &record)) total += record.size();
  fuzz::demand(total <= payload.size(), "state records lie within their block");
}

void read_blocks(const std::string& path) {
  auto reader = spool::SpoolReader::open(path);
  if (!reader) return;
  spool::Block block;
  std::uint64_t given = sizeof(spool::FileHeader);
  while (reader->next(&block)) {
    given += sizeof(spool::BlockHeader) + block.payload.size();
    parse_all(block.payload);
  }
  const spool::SpoolHealth& health = reader->health();
  fuzz::demand(given + health.skipped_bytes + health.torn_tail_bytes == health.file_bytes,
               "every byte is given out, skipped or torn");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const fuzz::MemoryPath file(fuzz::spool_of({bytes, size}));
  read_blocks(file.path());
  const auto trace = rundir::SpoolTrace::load(file.path());
  if (!trace) return 0;
  std::uint64_t unknown_kinds = 0;
  trace->for_each_event([&](std::uint32_t thread, const spool::Event& event) {
    (void)trace->tid(thread);
    (void)trace->text(event.id);
    unknown_kinds += static_cast<unsigned>(event.kind) > 100 ? 1 : 0;
  });
  trace->for_each_activity([&](const spool::Event& event) {
    (void)trace->text(event.id);
    (void)trace->gpu().lane(event.fields[spool::gpu_field::kLane]);
  });
  for (const rundir::Communicator& communicator : trace->communicators()) (void)communicator.name.size();
  fuzz::plant_fault(unknown_kinds > 0);
  return 0;
}
