// JAXPROF_OPTIONS='--ranks 0 -o "my dir/rank%r"': options for a job whose command line one cannot edit. They are split
// as a POSIX shell splits plain words, without a shell: blanks separate, ' " and \ quote, nothing is expanded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.h"

namespace jaxprof::launcher {

// kUsage when a quote is not closed or the text ends in a backslash.
Result<std::vector<std::string>> split_option_words(std::string_view text);

// `words` as one line that a shell would read back as the same words; for messages.
std::string quote_words(const std::vector<std::string>& words);

}  // namespace jaxprof::launcher
