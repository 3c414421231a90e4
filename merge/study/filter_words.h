// Filters as people write them on a command line, for every program that takes them.
#pragma once

#include <string>

#include "agent/base/result.h"
#include "merge/study/time_span.h"

namespace jaxprof::study {

// "12.5:13", "100ms:250ms", ":2s", "5:" - seconds without a unit. kUsage.
Result<TimeSpan> parse_window(const std::string& text);

// kUsage unless `list` is one of numbers, "0,8-15,0-1023:128", or empty; `things` and `example` are for the message.
Status check_list(const char* option, const std::string& list, const char* things, const char* example);

}  // namespace jaxprof::study
