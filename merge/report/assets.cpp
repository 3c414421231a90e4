// The assembler reads the files; CMakeLists.txt names them and rebuilds this object when they change.
#include "merge/report/assets.h"

#include <array>

// The bytes of a file between two symbols.
#define JAXPROF_EMBED(NAME, PATH)                  \
  __asm__(                                         \
      ".section .rodata\n"                         \
      ".global jaxprof_report_" #NAME              \
      "\n"                                         \
      "jaxprof_report_" #NAME                      \
      ":\n"                                        \
      ".incbin \"" PATH                            \
      "\"\n"                                       \
      ".global jaxprof_report_" #NAME              \
      "_end\n"                                     \
      "jaxprof_report_" #NAME                      \
      "_end:\n"                                    \
      ".byte 0\n"                                  \
      ".text\n");                                  \
  extern "C" {                                     \
  extern const char jaxprof_report_##NAME[];       \
  extern const char jaxprof_report_##NAME##_end[]; \
  }

JAXPROF_EMBED(frame, JAXPROF_REPORT_FOLDER "/page.html")
JAXPROF_EMBED(style, JAXPROF_REPORT_FOLDER "/report.css")
JAXPROF_EMBED(words, JAXPROF_REPORT_FOLDER "/words.js")
JAXPROF_EMBED(tables, JAXPROF_REPORT_FOLDER "/tables.js")
JAXPROF_EMBED(figures, JAXPROF_REPORT_FOLDER "/figures.js")
JAXPROF_EMBED(page, JAXPROF_REPORT_FOLDER "/page.js")
#ifdef JAXPROF_PLOTLY
JAXPROF_EMBED(plotly, JAXPROF_PLOTLY)
#endif

namespace jaxprof::report {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::span<const Asset> assets() {
  static const std::array kAssets = {
      Asset{"frame", between(jaxprof_report_frame, jaxprof_report_frame_end)},
      Asset{"style", between(jaxprof_report_style, jaxprof_report_style_end)},
      Asset{"words", between(jaxprof_report_words, jaxprof_report_words_end)},
      Asset{"tables", between(jaxprof_report_tables, jaxprof_report_tables_end)},
      Asset{"figures", between(jaxprof_report_figures, jaxprof_report_figures_end)},
      Asset{"page", between(jaxprof_report_page, jaxprof_report_page_end)},
#ifdef JAXPROF_PLOTLY
      Asset{"plotly", between(jaxprof_report_plotly, jaxprof_report_plotly_end)},
#else
      Asset{"plotly", ""},
#endif
  };
  return kAssets;
}

std::string_view asset(std::string_view name) {
  for (const Asset& one : assets()) {
    if (one.name == name) return one.text;
  }
  return {};
}

}  // namespace jaxprof::report
