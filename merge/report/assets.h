// The files that the build put into the program: the page's frame, style and scripts, and Plotly.
#pragma once

#include <span>
#include <string_view>

namespace jaxprof::report {

struct Asset {
  std::string_view name;  // its place in page.html is {{name}}
  std::string_view text;
};

// page.html is "frame". "plotly" is there, and empty where the build did not find plotly.min.js.
std::span<const Asset> assets();
std::string_view asset(std::string_view name);  // "" if there is none of that name

}  // namespace jaxprof::report
