// The main of a fuzz target where there is no libFuzzer: TARGET [-runs=N] FOLDER…. Runs the target on every file, then
// on N mutated copies of them, always the same ones, so that the targets cannot rot and find the simple faults
// anywhere.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace {

void run(const std::string& input) {
  // Memory of just this size, so that a sanitizer sees a read beyond.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::vector<std::string> read_inputs(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

// One to four small changes.
std::string mutate(std::string input, const std::vector<std::string>& others, std::mt19937_64* random) {
  const auto below = [random](std::size_t bound) {
    return static_cast<std::size_t>((*random)() % std::max<std::size_t>(bound, 1));
  };
  for (std::size_t change = 0; change <= below(4); ++change) {
    const std::size_t at = below(input.size());
    switch (below(6)) {
      case 0:
        if (!input.empty()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
        break;
      case 1:
        if (!input.empty()) input[at] = static_cast<char>((*random)());
        break;
      case 2:
        input.insert(at, 1 + below(8), static_cast<char>((*random)()));
        break;
      case 3:
        input.erase(at, 1 + below(8));
        break;
      case 4:
        if (below(4) == 0) input.resize(at);
        break;
      default: {
        const std::string& other = others[below(others.size())];
        input.insert(at, other.substr(below(other.size()), below(64)));
      }
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  // As libFuzzer does: a fault that was found is an exit status. A test that wants one cannot tell a signal from a
  // crash.
  std::signal(SIGABRT, [](int) { _exit(77); });
  long runs = 0;
  std::vector<std::string> inputs = {""};
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "-runs=", 6) == 0) {
      runs = std::strtol(argv[i] + 6, nullptr, 10);
    } else {
      for (std::string& input : read_inputs(argv[i])) inputs.push_back(std::move(input));
    }
  }
  for (const std::string& input : inputs) run(input);
  std::mt19937_64 random(12);
  for (long i = 0; i < runs; ++i) run(mutate(inputs[random() % inputs.size()], inputs, &random));
  std::printf("%zu inputs, %ld mutations\n", inputs.size(), runs);
  return inputs.size() > 1 ? 0 : 1;
}
