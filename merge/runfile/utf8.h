// Range names and command lines are bytes of the user's; HDF5 strings in a run file are UTF-8, and Python refuses to
// decode anything else. So every byte that is not part of valid UTF-8 becomes U+FFFD on the way into the file.
#pragma once

#include <string>
#include <string_view>

namespace jaxprof::runfile {

// `text` as valid UTF-8; text that is valid already comes back unchanged.
std::string valid_utf8(std::string_view text);

}  // namespace jaxprof::runfile
