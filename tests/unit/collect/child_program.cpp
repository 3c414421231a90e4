#include "tests/unit/collect/child_program.h"

#include <cstdio>
#include <string_view>

namespace jaxprof::test {

void report(const std::string& name, std::int64_t value) {
  std::printf("%s %lld\n", name.c_str(), static_cast<long long>(value));
  std::fflush(stdout);
}

}  // namespace jaxprof::test

int main(int argc, char** argv) {
  for (const jaxprof::test::Scenario& scenario : jaxprof::test::scenarios()) {
    if (argc == 2 && std::string_view(argv[1]) == scenario.name) {
      scenario.run();
      return 0;
    }
  }
  std::fprintf(stderr, "no such scenario\n");
  return 2;
}
