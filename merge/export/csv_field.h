// One value of a CSV file after RFC 4180, but with plain line feeds, which every reader takes: UTF-8, quoted where it
// has to be, nothing for what is missing.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <iterator>
#include <string>
#include <string_view>

#include "merge/runfile/enums.h"
#include "merge/runfile/utf8.h"

namespace jaxprof::exporting {

inline void append_text(std::string_view text, std::string& to) {
  if (text.find_first_of("\",\r\n") == std::string_view::npos) {
    to += text;
    return;
  }
  to += '"';
  for (const char c : text) {
    if (c == '"') to += '"';
    to += c;
  }
  to += '"';
}

template <typename Number>
requires std::integral<Number> || std::floating_point<Number>
void append_number(Number value, std::string& to) {
  fmt::format_to(std::back_inserter(to), "{}", value);  // reals in the shortest form that reads back equal
}

}  // namespace jaxprof::exporting
