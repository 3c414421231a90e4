// The inside of a profiled process, for tests: there is one session a process, so each scenario runs in a process of
// its own, which the test starts with JAXPROF_SESSION set (child_run.h) and whose spool it reads afterwards. A program
// of scenarios defines kScenarios and links child_program.cpp, which has main.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace jaxprof::test {

struct Scenario {
  const char* name;
  void (*run)();
};

// Of each program its own.
std::span<const Scenario> scenarios();

// Tells the test a number that only the process knows. Each name once.
void report(const std::string& name, std::int64_t value);

}  // namespace jaxprof::test
