// Rows of a summary: section, item, value with its unit, detail.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "merge/study/table.h"

namespace jaxprof::study {

class Sections {
 public:
  // Of a table with those five columns, which must stay.
  explicit Sections(Table& table) : table_(table) {}

  void begin(const char* section) { section_ = section; }
  void count(const std::string& item, std::int64_t n, const std::string& detail = {}) { add(item, n, "1", detail); }
  void amount(const std::string& item, Cell value, const char* unit, const std::string& detail = {}) {
    add(item, std::move(value), unit, detail);
  }
  void text(const std::string& item, const std::string& detail) { add(item, Missing{}, "text", detail); }

 private:
  void add(const std::string& item, Cell value, const char* unit, const std::string& detail) {
    table_.rows.push_back({std::string(section_), item, std::move(value), std::string(unit),
                           detail.empty() ? Cell{Missing{}} : Cell{detail}});
  }
  Table& table_;
  const char* section_ = "";
};

}  // namespace jaxprof::study
