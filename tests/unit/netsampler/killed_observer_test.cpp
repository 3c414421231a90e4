// SIGKILL is how an observer usually ends. A child samples scripted ports in scripted time, as fast as it can, and is
// killed at a random instant: between blocks, in the middle of a write, anywhere. The time that it had reached is in
// memory that this process sees.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <new>
#include <random>

#include "netsampler/node/sample_loop.h"
#include "tests/unit/base/temp_folder.h"
#include "tests/unit/netsampler/node_recording.h"
#include "tests/unit/netsampler/scripted_node.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::uint64_t kPeriodNs = 20 * kMillisecond;

[[noreturn]] void observe(const std::string& path, std::atomic<std::uint64_t>* time) {
  ScriptedClock clock(time);
  ScriptedNics nics(&clock);
  for (int i = 0; i < 4; ++i) nics.add_port("rdmap" + std::to_string(i), 22, 6, kPeriodNs);
  auto spool = NodeSpool::create(path, {"7.0.0", "7", "n1", "0123456789abcdef"});
  if (!spool) _exit(1);
  SampleLoop loop({&clock, &*spool, &nics, nullptr}, 0, false);
  loop.run({[] { return false; }, [] { return false; }});
  _exit(2);
}

// The time that it had reached.
std::uint64_t observe_until_killed(const std::string& path, std::uint64_t length_us) {
  void* memory =
      mmap(nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* time = new (memory) std::atomic<std::uint64_t>(0);
  const pid_t child = fork();
  if (child == 0) observe(path, time);
  // Its first block has come; from here on any instant will do.
  while (!std::filesystem::exists(path) || std::filesystem::file_size(path) < 1024) usleep(100);
  usleep(static_cast<useconds_t>(length_us));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself: " << status;
  const std::uint64_t reached = *time;
  munmap(memory, sizeof(std::atomic<std::uint64_t>));
  return reached;
}

TEST(KilledObserver, LeavesAFileWhoseTotalsAreRightToTheLastSecond) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 25; ++round) {
    const test::TempFolder folder;
    const std::string path = folder.file("node.jxspool");
    const std::uint64_t reached_ns = observe_until_killed(path, random() % 20'000) + kSecond;
    const auto recording = read_node_spool(path);
    ASSERT_EQ(recording.error, "");
    EXPECT_FALSE(recording.health.has_footer);
    EXPECT_EQ(recording.health.lost_blocks, 0U);
    EXPECT_EQ(recording.health.skipped_bytes, 0U);
    EXPECT_EQ(recording.skipped_sections, 0U);
    ASSERT_EQ(recording.streams.size(), 4U);
    for (const auto& [number, stream] : recording.streams) {
      ASSERT_EQ(stream.rows.front().stamp / kMillisecond, 101'000U);
      const RecordedRow& last = stream.rows.back();
      EXPECT_LE(last.stamp, reached_ns);
      EXPECT_GE(last.stamp + kSecond + kPeriodNs, reached_ns);
      EXPECT_EQ(last.values[0] - stream.rows.front().values[0], last.stamp - stream.rows.front().stamp);
      EXPECT_EQ(stream.rows.size(), 1 + (last.stamp - stream.rows.front().stamp) / kPeriodNs) << "none is missing";
    }
  }
}

}  // namespace
}  // namespace jaxprof::netsampler
