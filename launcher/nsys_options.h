// People come with a command line of nsys. What -o, -f, -t, -y, -d, -c, -e and -p mean here is what they mean there;
// every other option of `nsys profile` is in one table: taken with one line that says what becomes of it, or refused
// with the reason. An option whose absence would change what is measured, or what the job does, is refused rather than
// ignored.
#pragma once

#include <span>
#include <string_view>

namespace jaxprof::launcher {

enum class NsysAnswer {
  kAccepted,   // any value; `reason` says what becomes of it
  kOnlyValue,  // accepted with `accepted_value`, refused with any other
  kRefused,
};

struct NsysOption {
  char letter;            // '\0': none
  const char* long_name;  // without the dashes
  NsysAnswer answer;
  const char* accepted_value;  // of kOnlyValue
  const char* reason;          // one sentence without a full stop
};

// Every option takes one value, as in nsys, behind '=' or as the next word.
std::span<const NsysOption> nsys_options();

// `word` as typed, with its dashes and perhaps "=value": "-t", "-tcuda", "--trace", "--trace=cuda". Null: not of nsys.
const NsysOption* find_nsys_option(std::string_view word);

bool is_accepted(const NsysOption& option, std::string_view value);

}  // namespace jaxprof::launcher
