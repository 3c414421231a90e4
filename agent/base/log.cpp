#include "agent/base/log.h"

#include <unistd.h>

#include <string>

namespace jaxprof {
namespace {
const char* program_name = "jaxprof";
}

void set_program_name(const char* name) {
  program_name = name;
}

void say(std::string_view text) {
  std::string line = program_name;
  line += ": ";
  line += text;
  line += '\n';
  // A closed stderr is no reason to stop working.
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace jaxprof
