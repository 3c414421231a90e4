// Numbers for people: three significant digits and the unit that fits.
#pragma once

#include <string>

#include "merge/study/table.h"

namespace jaxprof::study {

std::string human_time(double ns);      // "850 ns", "1.5 ms", "2.31 s", "4.2 h"
std::string human_bytes(double bytes);  // "512 B", "64 KiB", "1.5 GiB"
std::string human_number(double value);

// A cell as a person reads it; "–" if it is missing. `row_unit` is the word in the row's column "unit".
std::string human_cell(const Cell& cell, Unit unit, const std::string& row_unit);
// A cell as it is: integers whole, reals in the shortest form that reads back equal; "" if it is missing or not finite.
std::string exact_cell(const Cell& cell);

// Control characters as escapes, so that a range name cannot move the cursor or split a line.
std::string printable(const std::string& text);
// Characters on a terminal, one a code point.
std::size_t width(const std::string& text);

}  // namespace jaxprof::study
