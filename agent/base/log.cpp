#include "agent/base/log.h"

#include <unistd.h>

#include <string>

#include "agent/base/harmless_write.h"

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
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    line += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  line += '\n';
  write_harmlessly(STDERR_FILENO, line);
}

}  // namespace jaxprof
