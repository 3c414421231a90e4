// Where a study's text goes: a file, or standard output.
#pragma once

#include <string>

#include "agent/base/result.h"

namespace jaxprof::study {

// `path` "" is standard output. A file is replaced whole or not at all. A reader that closed the pipe (head) is no
// error; anything else that was not written is kOutputFailed.
Status write_output(const std::string& path, const std::string& text);

}  // namespace jaxprof::study
