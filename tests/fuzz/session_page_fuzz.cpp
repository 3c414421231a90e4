// A session page that a job gone wild has written all over, published or collected: nothing may be made or changed but
// in the two folders that the task was given. The input is a list of `u16 offset, u8 value` strokes on the one slot of
// a good page.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "agent/contract/session_page.h"
#include "launcher/spool_collection.h"
#include "tests/fuzz/planted_fault.h"
#include "tests/unit/base/temp_folder.h"
#include "tests/unit/spool/recording.h"

namespace {

using namespace jaxprof;

constexpr std::size_t kStrokeBytes = 3;
constexpr const char* kSpoolName = "slot0.p1.jxspool";

void write_good_slot(SessionPage* page) {
  page->claimed_slots.store(1);
  ProcessSlot& slot = page->slots[0];
  slot.pid = 1;
  slot.start_ticks = 1;
  slot.rank.rank = 0;
  std::strcpy(slot.stem, "rank0");
  std::strcpy(slot.spool_name, kSpoolName);
  std::strcpy(slot.ring_name, "slot0.p1.rings");
  slot.spool_bytes.store(1);
  slot.state.store(SlotState::kEnded);
}

std::size_t count_entries(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const std::string spool = test::Recording().bytes(true);
  const test::TempFolder folder("/dev/shm");
  for (const char* name : {"run", "node", "node/spool"}) std::filesystem::create_directory(folder.file(name));
  std::ofstream(folder.file("node/spool/") + kSpoolName, std::ios::binary) << spool;
  std::ofstream(folder.file("foreign")) << "foreign";

  auto page = std::make_unique<SessionPage>();
  write_good_slot(page.get());
  auto* slot = reinterpret_cast<std::uint8_t*>(&page->slots[0]);
  for (; size >= kStrokeBytes; bytes += kStrokeBytes, size -= kStrokeBytes) {
    slot[(bytes[0] | static_cast<std::size_t>(bytes[1]) << 8) % sizeof(ProcessSlot)] = bytes[2];
  }
  launcher::SpoolSource source;
  source.page = page.get();
  source.spool_directory = folder.file("node/spool");
  source.run_directory = folder.file("run");
  source.host = "n1";
  source.claim_rules = {"5.0.0", "boot", false};
  source.is_present = [](const ProcessSlot&) { return false; };
  const auto processes = launcher::SpoolCollection(source).finish([] { return false; });

  fuzz::demand(processes.size() == 1, "one slot is one process");
  fuzz::demand(count_entries(folder.path()) == 3 && std::filesystem::file_size(folder.file("foreign")) == 7 &&
                   count_entries(folder.file("node")) == 1,
               "nothing is made or changed outside of the two folders");
  const std::string kept = folder.file("node/spool/") + kSpoolName;
  const bool is_published = !processes[0].spool.empty();
  fuzz::demand(is_published || std::filesystem::exists(kept), "what is not published stays");
  fuzz::plant_fault(is_published && processes[0].spool != "rank0.jxspool");
  return 0;
}
