// One HTML file out of the frame, its style and scripts, and what is known of a run. It asks nobody for anything.
#pragma once

#include <string>
#include <string_view>

namespace jaxprof::report {

// `title` is any text; `json` is page_json.
std::string page_html(std::string_view title, std::string_view json);

// Text as it may stand between tags or in an attribute: bytes that are no UTF-8 become U+FFFD.
std::string escaped_html(std::string_view text);

}  // namespace jaxprof::report
