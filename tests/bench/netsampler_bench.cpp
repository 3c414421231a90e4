// What the observer of a node costs beside the readings themselves, how late its ticks are, and how large its spool
// gets. Cards are 32 or 8 EFA devices of 22 counters as plain files, read through the real sampler and loop in real
// time. The limit is the same readings alone, in the same run: the same files at the same deadlines, all of them open,
// one pread each. The size is that of scripted ports whose 12 moving counters run at line rate, in scripted time.
//
// Usage: netsampler_bench FOLDER; prints "NAME VALUE UNIT" lines.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "agent/base/clocks.h"
#include "agent/base/unique_fd.h"
#include "netsampler/node/detachment.h"
#include "netsampler/node/sample_loop.h"
#include "tests/unit/netsampler/scripted_node.h"
#include "tests/unit/nic/driver_counters.h"
#include "tests/unit/nic/sysfs_tree.h"

namespace {

using namespace jaxprof::netsampler;
using jaxprof::clock_ns;

constexpr std::uint64_t kLengthNs = 4'000'000'000;
void print(const char* name, double value, const char* unit) {
  std::printf("%-42s %10.3f %s\n", name, value, unit);
}

std::string card_name(int i) {
  return "rdmap" + std::to_string(i) + "s0";
}

void make_cards(int count, jaxprof::test::SysfsTree* tree) {
  for (int i = 0; i < count; ++i) {
    char pci[32];
    std::snprintf(pci, sizeof pci, "0000:%02x:00.0", i + 1);
    tree->add_card(card_name(i), pci, "efa", "0000:0000:0000:" + std::to_string(1000 + i));
    for (const auto& [counter, value] : jaxprof::test::efa_counters(123'456'789'012)) {
      tree->set(card_name(i), counter, value);
    }
  }
}

std::uint64_t thread_cpu_ns() {
  return static_cast<std::uint64_t>(clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

// Remembers how late each waking up was.
class MeasuringClock : public SystemClock {
 public:
  void sleep_until(std::uint64_t deadline_ns) override {
    SystemClock::sleep_until(deadline_ns);
    const std::uint64_t now = now_ns();
    lateness_ns.push_back(now > deadline_ns ? now - deadline_ns : 0);
  }
  std::vector<std::uint64_t> lateness_ns;
};

double percentile_us(std::vector<std::uint64_t> values, double share) {
  std::sort(values.begin(), values.end());
  return static_cast<double>(values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))]) / 1e3;
}

// CPU time of the loop over the time, without what comes before the first deadline and after the last.
double observe(const jaxprof::test::SysfsTree& tree, unsigned hz, const std::string& path, double* p99_us) {
  NicSettings settings;
  settings.sysfs_root = tree.root();
  settings.source = jaxprof::spool::NicSource::kSysfs;
  settings.hz = hz;
  const auto nics = nic_source(settings);
  MeasuringClock clock;
  auto spool = NodeSpool::create(path, {"bench", "", "n1", "0123456789"});
  if (!spool) return -1;
  SampleLoop loop({&clock, &*spool, nics.get(), nullptr}, 0, false);
  std::uint64_t first_ns = 0, first_cpu_ns = 0, last_ns = 0, last_cpu_ns = 0;
  loop.run({[&] {
              last_ns = clock.now_ns();
              last_cpu_ns = thread_cpu_ns();
              if (first_ns == 0) first_ns = last_ns, first_cpu_ns = last_cpu_ns;
              return last_ns >= first_ns + kLengthNs;
            },
            [] { return false; }});
  *p99_us = percentile_us(clock.lateness_ns, 0.99);
  unlink(path.c_str());
  return static_cast<double>(last_cpu_ns - first_cpu_ns) / static_cast<double>(last_ns - first_ns);
}

// The counters that the sampler reads at the fast rate.
std::set<std::string> fast_counters(const jaxprof::test::SysfsTree& tree) {
  NicSettings settings;
  settings.sysfs_root = tree.root();
  settings.source = jaxprof::spool::NicSource::kSysfs;
  const auto nics = nic_source(settings);
  nics->rescan();
  std::set<std::string> names;
  for (const Port& port : nics->ports()) {
    for (const Column& column : port.columns) {
      if (column.is_fast) names.insert(column.name);
    }
  }
  return names;
}

double read_alone(const jaxprof::test::SysfsTree& tree, int cards, unsigned hz) {
  const std::set<std::string> fast = fast_counters(tree);
  struct File {
    jaxprof::UniqueFd fd;
    bool is_fast;
  };
  std::vector<File> files;
  for (int i = 0; i < cards; ++i) {
    for (const auto& [counter, value] : jaxprof::test::efa_counters()) {
      const std::string path =
          tree.root() + "/" + jaxprof::test::SysfsTree::port(card_name(i)) + "/hw_counters/" + counter;
      files.push_back({jaxprof::UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC)), fast.contains(counter)});
      if (!files.back().fd) return -1;
    }
  }
  SystemClock clock;
  const std::uint64_t begin_ns = clock.now_ns();
  const std::uint64_t begin_cpu_ns = thread_cpu_ns();
  std::uint64_t deadline_ns = begin_ns;
  char text[64];
  for (unsigned tick = 1; deadline_ns < begin_ns + kLengthNs; ++tick) {
    deadline_ns += 1'000'000'000 / hz;
    clock.sleep_until(deadline_ns);
    for (const File& file : files) {
      if (!file.is_fast && tick % hz != 0) continue;  // the others once a second
      if (pread(file.fd.get(), text, sizeof text, 0) <= 0) return -1;
    }
  }
  return static_cast<double>(thread_cpu_ns() - begin_cpu_ns) / static_cast<double>(clock.now_ns() - begin_ns);
}

bool measure(int cards, unsigned hz, const std::string& folder) {
  jaxprof::test::SysfsTree tree(folder);
  make_cards(cards, &tree);
  double p99_us = 0;
  const double share = observe(tree, hz, folder + "/bench.jxspool", &p99_us);
  const double limit = read_alone(tree, cards, hz);
  if (share < 0 || limit <= 0) return false;
  const std::string name = "netsampler." + std::to_string(cards) + "x22x" + std::to_string(hz) + "hz.";
  print((name + "cpu_percent").c_str(), 100 * share, "of a processor");
  print((name + "reads_percent").c_str(), 100 * limit, "the same readings alone");
  print((name + "cpu_to_reads").c_str(), share / limit, "");
  print((name + "late_p99_us").c_str(), p99_us, "us");
  return true;
}

// 22 columns, of which 12 run at 100 Gbit/s: six in bytes, six in packets of 4096 bytes; ticks are late at random.
class LineRateNics : public ScriptedNics {
 public:
  LineRateNics(ScriptedClock* clock, std::size_t ports) : ScriptedNics(clock), clock_(clock), last_(ports) {
    for (std::size_t i = 0; i < ports; ++i) add_port("rdmap" + std::to_string(i), 22, 22, 100 * kMillisecond);
  }
  void read(std::size_t port, bool fast_only, Reading* reading) override {
    clock_->pass(random_() % 20'000);
    ScriptedNics::read(port, fast_only, reading);
    Last& last = last_[port];
    const double bytes = 12.5 * static_cast<double>(last.stamp == 0 ? 0 : reading->begin_ns - last.stamp);
    last.stamp = reading->begin_ns;
    last.values.resize(22);
    for (std::size_t i = 0; i < 12; ++i) last.values[i] += static_cast<std::uint64_t>(i < 6 ? bytes : bytes / 4096);
    reading->end_ns = reading->begin_ns + 300'000 + random_() % 100'000;
    reading->values = last.values;
  }

 private:
  struct Last {
    std::uint64_t stamp = 0;
    std::vector<std::uint64_t> values;
  };
  ScriptedClock* clock_;
  std::vector<Last> last_;
  std::mt19937_64 random_{1};
};

bool measure_size(const std::string& path) {
  constexpr std::uint64_t kMinutes = 10;
  ScriptedClock clock;
  LineRateNics nics(&clock, 32);
  auto spool = NodeSpool::create(path, {"bench", "", "n1", "0123456789"});
  if (!spool) return false;
  SampleLoop loop({&clock, &*spool, &nics, nullptr}, 0, false);
  const std::uint64_t end_ns = clock.now_ns() + kMinutes * 60 * kSecond;
  loop.run({[&] { return clock.now_ns() >= end_ns; }, [] { return false; }});
  const double bytes = static_cast<double>(spool->bytes());
  unlink(path.c_str());
  print("netsampler.spool_mb_an_hour", bytes * 60 / kMinutes / 1e6, "MB, 32 x 22 counters at 10 Hz, 12 at line rate");
  print("netsampler.spool_bytes_a_row", bytes / static_cast<double>(spool->row_count()), "bytes");
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: netsampler_bench FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  take_back_seat(std::nullopt);
  if (measure_size(folder + "/size.jxspool") && measure(32, 10, folder) && measure(8, 100, folder)) return 0;
  std::fprintf(stderr, "netsampler_bench: cannot write or read in %s\n", folder.c_str());
  return 1;
}
