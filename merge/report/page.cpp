#include "merge/report/page.h"

#include "merge/report/assets.h"
#include "merge/runfile/utf8.h"

namespace jaxprof::report {

std::string escaped_html(std::string_view text) {
  std::string escaped;
  for (const char c : runfile::valid_utf8(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string page_html(std::string_view title, std::string_view json) {
  const std::string_view frame = asset("frame");
  const std::string safe_title = escaped_html(title);
  std::string page;
  std::size_t done = 0;
  // What was put in is not looked at again: a name that holds {{data}} stays a name.
  for (std::size_t open = frame.find("{{"); open != std::string_view::npos; open = frame.find("{{", done)) {
    const std::size_t close = frame.find("}}", open);
    const std::string_view name = frame.substr(open + 2, close - open - 2);
    page += frame.substr(done, open - done);
    page += name == "title" ? std::string_view(safe_title) : name == "data" ? json : asset(name);
    done = close + 2;
  }
  page += frame.substr(done);
  return page;
}

}  // namespace jaxprof::report
