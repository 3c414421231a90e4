// Texts that jaxprof-exec gets from elsewhere: the kernel's mount table, what scontrol answers, the words of
// JAXPROF_OPTIONS, Slurm's tasks per node, and the reports of other ranks under --check. The first byte says which.
#include <string>
#include <string_view>

#include "agent/base/parse_size.h"
#include "launcher/check.h"
#include "launcher/mount.h"
#include "launcher/option_words.h"
#include "launcher/tasks_per_node.h"
#include "launcher/time_limit.h"
#include "tests/fuzz/planted_fault.h"

namespace {

using namespace jaxprof;

void read_mounts(std::string_view text) {
  const std::int64_t id = launcher::parse_mount_id(text).value_or(25);
  const auto mount = launcher::find_mount(text, id);
  if (!mount) return;
  (void)launcher::storage_of(mount->type);
  fuzz::demand(mount->point.size() <= text.size(), "a mount point is no longer than its line");
  fuzz::plant_fault(mount->point.find('!') != std::string::npos);
}

void split_words(std::string_view text) {
  const auto words = launcher::split_option_words(text);
  if (!words) return;
  const auto again = launcher::split_option_words(launcher::quote_words(*words));
  fuzz::demand(again.has_value() && *again == *words, "quoted words are read back as they were");
}

void read_findings(std::string_view text) {
  const auto findings = launcher::parse_findings(text);
  if (!findings) return;
  const auto again = launcher::parse_findings(launcher::to_text(*findings));
  fuzz::demand(again.has_value() && again->findings.size() == findings->findings.size(), "findings survive writing");
  fuzz::demand(!launcher::make_table({*findings}, 4, "prof").empty(), "findings make a table");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  switch (bytes[0] % 6) {
    case 0:
      read_mounts(text);
      break;
    case 1:
      (void)launcher::parse_end_time(text);
      break;
    case 2:
      split_words(text);
      break;
    case 3:
      read_findings(text);
      break;
    case 4:
      (void)launcher::parse_tasks_per_node(std::string(text.substr(0, 64)));
      break;
    default:
      if (const auto parsed = parse_size(text)) fuzz::demand(*parsed >= 0, "no size is negative");
  }
  return 0;
}
