// What sampling costs beyond what reading costs. A node's counters are files here, on a file system in memory, whose
// reading is about as dear as that of sysfs; they are read once by the sampler (through its columns, its flags and its
// rows) and once by bare pread(2) on files of the same tree, in turns, and the best of many turns is taken of each.
// Figures are processor time: the ratio of both, and what the sampler would take of one core at the rate in the
// figure's name. How late a tick is depends on the loop and the machine, and is not measured here.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "agent/base/clocks.h"
#include "agent/base/unique_fd.h"
#include "netsampler/nic/nic_sampler.h"
#include "netsampler/nic/rdma_link.h"
#include "tests/unit/nic/driver_counters.h"
#include "tests/unit/nic/sysfs_tree.h"

namespace {

using namespace jaxprof;

constexpr int kTurns = 200;

// There is no netlink: what is compared are reads of files.
class NoLink : public netsampler::RdmaLink {
 public:
  netsampler::RdmaReply ask(const netsampler::RdmaRequest&) override { return {.error = EPROTONOSUPPORT}; }
};

struct Shape {
  const char* name;
  int cards;
  double hz;
};

std::string name_of(int card) {
  return "rdmap" + std::to_string(card) + "s0";
}

void plug_in(int cards, test::SysfsTree* tree) {
  for (int card = 0; card < cards; ++card) {
    std::array<char, 16> pci{};
    std::snprintf(pci.data(), pci.size(), "0000:%02x:00.0", static_cast<unsigned>(card) & 0xffU);
    tree->add_card(name_of(card), pci.data(), "efa");
    tree->set_all(name_of(card), test::efa_counters(123'456'789'012));
  }
}

std::vector<UniqueFd> open_counters(int cards, const test::SysfsTree& tree) {
  std::vector<UniqueFd> files;
  for (int card = 0; card < cards; ++card) {
    for (const auto& [name, value] : test::efa_counters()) {
      const std::string path = tree.root() + "/" + test::SysfsTree::port(name_of(card)) + "/hw_counters/" + name;
      files.emplace_back(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    }
  }
  return files;
}

// Processor time that `work` takes, in ns.
template <typename Work>
double cost_ns(const Work& work) {
  const std::int64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  work();
  return static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin);
}

bool measure(const Shape& shape) {
  test::SysfsTree tree("/dev/shm");
  plug_in(shape.cards, &tree);
  netsampler::NicSampler sampler({.sysfs_root = tree.root()}, std::make_unique<NoLink>());
  sampler.rescan();
  const std::size_t ports = sampler.ports().size();
  const std::vector<UniqueFd> files = open_counters(shape.cards, tree);
  netsampler::Reading reading;
  std::size_t rows = 0;
  std::size_t reads = 0;
  double sampled_ns = 1e18;
  double bare_ns = 1e18;
  for (int turn = 0; turn < kTurns; ++turn) {
    sampled_ns = std::min(sampled_ns, cost_ns([&] {
                            for (std::size_t port = 0; port < ports; ++port) {
                              sampler.read(port, false, &reading);
                              if (reading.is_ok && reading.values.size() == 22) ++rows;
                            }
                          }));
    bare_ns = std::min(bare_ns, cost_ns([&] {
                         std::array<char, 64> text;
                         for (const UniqueFd& file : files) {
                           if (::pread(file.get(), text.data(), text.size(), 0) > 0) ++reads;
                         }
                       }));
  }
  if (rows != static_cast<std::size_t>(shape.cards * kTurns) || reads != files.size() * kTurns) {
    std::fprintf(stderr, "nic_bench: %s: a counter could not be read\n", shape.name);
    return false;
  }
  std::printf("%s.cpu_percent %.2f of one core\n", shape.name, sampled_ns * shape.hz / 1e9 * 100);
  std::printf("%s.reads_percent %.2f\n", shape.name, bare_ns * shape.hz / 1e9 * 100);
  std::printf("%s.ratio %.2f\n", shape.name, sampled_ns / bare_ns);
  return true;
}

}  // namespace

int main() {
  for (const Shape& shape : {Shape{"nic.32x22x10", 32, 10}, Shape{"nic.8x22x100", 8, 100}}) {
    if (!measure(shape)) return 1;
  }
  return 0;
}
