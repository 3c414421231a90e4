// What a rank pays that is not traced. jaxprof-exec then becomes the command by exec, so the price is one more program
// start: its own. Here /bin/true is started plain and behind an unselected jaxprof-exec, in alternation, so that
// whatever else the machine does hits both, and the best and the median of many are compared. The limit is the plain
// start of the same run.

#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "agent/base/clocks.h"

namespace {

constexpr int kRounds = 400;
constexpr const char* kTrue = "/bin/true";

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

// From before the start of `words` to its end, in microseconds; negative if it failed.
double run_us(std::vector<std::string> words) {
  std::vector<std::string> variables = {"PATH=/usr/bin:/bin", "JAXPROF_RANK=1", "JAXPROF_WORLD_SIZE=2"};
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> environment = pointers(variables);
  const std::int64_t begin_ns = jaxprof::clock_ns(CLOCK_MONOTONIC);
  pid_t pid = 0;
  int status = 0;
  if (posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environment.data()) != 0) return -1;
  if (waitpid(pid, &status, 0) != pid || status != 0) return -1;
  return static_cast<double>(jaxprof::clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1e3;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + kRounds / 2, values.end());
  return values[kRounds / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: unselected_bench JAXPROF-EXEC\n");
    return 2;
  }
  std::vector<double> plain_us, unselected_us;
  for (int i = 0; i < kRounds; ++i) {
    plain_us.push_back(run_us({kTrue}));
    unselected_us.push_back(run_us({argv[1], "--ranks", "0", "-o", "prof/rank%r", "--", kTrue}));
    if (plain_us.back() < 0 || unselected_us.back() < 0) {
      std::fprintf(stderr, "unselected_bench: a program could not be started, or failed\n");
      return 1;
    }
  }
  const double best_plain = *std::min_element(plain_us.begin(), plain_us.end());
  const double best_unselected = *std::min_element(unselected_us.begin(), unselected_us.end());
  std::printf("unselected.plain_us %.0f best, %.0f median\n", best_plain, median(plain_us));
  std::printf("unselected.exec_us %.0f best, %.0f median\n", best_unselected, median(unselected_us));
  std::printf("unselected.extra_ms %.3f of the medians\n", (median(unselected_us) - median(plain_us)) / 1e3);
  std::printf("unselected.ratio %.2f of the best\n", best_unselected / best_plain);
  return 0;
}
