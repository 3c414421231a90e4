// What the tools say to a person: one line on stderr, "PROGRAM: text", written by a single write(2) so that the
// lines of many ranks on one terminal do not mix. A stderr that cannot take the line at once loses it: see
// harmless_write.h. Control characters, which values of options may hold, become question marks: a line stays one.
#pragma once

#include <string_view>

namespace jaxprof {

// The name before the colon; set once by main before any thread starts. Default "jaxprof".
void set_program_name(const char* name);
void say(std::string_view text);

}  // namespace jaxprof
