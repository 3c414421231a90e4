// How a C++ program marks its steps and phases for jaxprof, or for any other tool that reads NVTX, with nothing but
// NVTX's own headers: a domain type whose name is "jaxprof", messages that are registered once, and the step marker,
// which is a range "step" with the step's number as payload. Without a tool a range costs one comparison.
//
// The program pretends to train. It prints the seconds that its loop took, which the step ranges cover.
//
//     c++ -std=c++17 -O2 -I /usr/local/cuda/include annotate.cpp -ldl && jaxprof-exec -- ./a.out 20
#include <nvtx3/nvtx3.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct JaxprofDomain {
  static constexpr const char* name{"jaxprof"};
};
using Range = nvtx3::scoped_range_in<JaxprofDomain>;
using Message = nvtx3::registered_string_in<JaxprofDomain>;

// A message is a type, so that get<>() finds the string that it registered at its first use.
struct StepMessage {
  static constexpr const char* message{"step"};
};
struct LoadMessage {
  static constexpr const char* message{"load"};
};
struct TrainMessage {
  static constexpr const char* message{"train"};
};

std::vector<double> load(std::int64_t number) {
  const Range phase{Message::get<LoadMessage>()};
  std::vector<double> batch(100'000);
  for (std::size_t i = 0; i < batch.size(); ++i)
    batch[i] = std::sin(static_cast<double>(number) + static_cast<double>(i));
  return batch;
}

double train(const std::vector<double>& batch) {
  const Range phase{Message::get<TrainMessage>()};
  double loss = 0;
  for (const double value : batch) loss += value * value;
  return loss / static_cast<double>(batch.size());
}

}  // namespace

int main(int argc, char** argv) {
  char* rest = nullptr;
  const std::int64_t n_steps = argc > 1 ? std::strtoll(argv[1], &rest, 10) : 20;
  if (n_steps < 1 || (rest != nullptr && *rest != '\0')) {
    std::fprintf(stderr, "annotate: '%s' is not a whole number of steps of at least 1\n", argv[1]);
    return 2;
  }
  const auto began = std::chrono::steady_clock::now();
  for (std::int64_t number = 0; number < n_steps; ++number) {
    const Range step{Message::get<StepMessage>(), nvtx3::payload{number}};
    std::printf("step %lld loss %.6f\n", static_cast<long long>(number), train(load(number)));
  }
  const std::chrono::duration<double> loop = std::chrono::steady_clock::now() - began;
  std::printf("loop %.6f s, %lld steps\n", loop.count(), static_cast<long long>(n_steps));
  return 0;
}
