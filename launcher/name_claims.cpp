#include "launcher/name_claims.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/base/text.h"
#include "agent/contract/run_layout.h"
#include "agent/spool/publisher.h"
#include "launcher/slot_text.h"

namespace jaxprof::launcher {
namespace {

// True if the file is there and empty, as a claim is.
bool is_empty_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && status.st_size == 0;
}

}  // namespace

NameClaims::NameClaims(const SpoolSource& source) : source_(source), unused_(source.claim) {
  const std::uint32_t claimed = std::min(source.page->claimed_slots.load(std::memory_order_acquire), kMaxProcessSlots);
  for (std::uint32_t i = 0; i < claimed; ++i) {
    const ProcessSlot& slot = source.page->slots[i];
    const std::string published = text_of(slot.published_stem);
    if (published.empty()) continue;
    seen_stems_.insert(text_of(slot.stem));
    if (unused_ && unused_->stem == published) unused_.reset();
  }
}

std::optional<OutputClaim> NameClaims::claim_in_slot(const ProcessSlot& slot, const std::string& spool_path) const {
  const std::string stem = text_of(slot.published_stem);
  if (!is_plain_name(stem)) return std::nullopt;
  const std::string part_path = run_layout::part_spool_path(source_.run_directory, stem);
  if (!is_empty_file(part_path) && !spool::is_copy_of_spool(spool_path, part_path)) return std::nullopt;
  // The claim saw to it that a finished file of the name may be replaced, or that there was none.
  const bool is_there = access(run_layout::spool_path(source_.run_directory, stem).c_str(), F_OK) == 0;
  return OutputClaim{stem, is_there && source_.claim_rules.can_replace_files};
}

Result<OutputClaim> NameClaims::new_claim(const ProcessSlot& slot) {
  std::string stem = text_of(slot.stem);
  // The process has died before it could name itself, or has gone wild.
  if (!is_plain_name(stem)) stem = run_layout::task_name(slot.rank.rank, source_.host, slot.pid);
  if (unused_ && unused_->stem == stem) return *std::exchange(unused_, std::nullopt);
  const std::string own = run_layout::stem_of_process(stem, source_.host, slot.pid);
  const bool is_first = seen_stems_.insert(stem).second && (!source_.claim || source_.claim->stem != stem);
  for (const std::string& candidate : {is_first ? stem : own, own, own + ".1", own + ".2"}) {
    auto claim = claim_output(source_.run_directory, candidate, source_.claim_rules);
    if (!claim) {
      if (is_first) seen_stems_.erase(stem);  // the next try has the same right to it
      return tl::unexpected(std::move(claim.error()));
    }
    if (*claim) return **claim;
  }
  return fail(ErrorCode::kOutputFailed, run_layout::spool_path(source_.run_directory, own) + " is taken");
}

Result<OutputClaim> NameClaims::claim_for(ProcessSlot& slot, const std::string& spool_path) {
  if (auto claim = claim_in_slot(slot, spool_path)) return *claim;
  // The copy was removed, or is another's by now.
  if (const std::string stem = text_of(slot.published_stem); is_plain_name(stem)) {
    const auto claim = claim_output(source_.run_directory, stem, source_.claim_rules);
    if (claim && *claim) return **claim;
  }
  auto claim = new_claim(slot);
  if (claim) TextBuffer(slot.published_stem, sizeof slot.published_stem).append(claim->stem.c_str());
  return claim;
}

void NameClaims::release_unused() {
  if (unused_ && is_empty_file(run_layout::part_spool_path(source_.run_directory, unused_->stem))) {
    release_claim(source_.run_directory, *unused_);
  }
  unused_.reset();
}

}  // namespace jaxprof::launcher
