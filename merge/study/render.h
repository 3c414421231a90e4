// One table, five formats. Each has a file of its own; this names them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "merge/study/table.h"

namespace jaxprof::study {

enum class Format { kTable, kCsv, kTsv, kJson, kMd };

// "table", "csv", "tsv", "json", "md".
std::optional<Format> format_from_word(std::string_view word);

struct RenderOptions {
  Format format = Format::kTable;
  bool is_wide = false;  // table and md: all columns
};

// Ends with a newline. A table without rows gives its reason in the formats for people and in JSON's verdict; csv and
// tsv give the header line alone.
std::string render(const Table& table, const RenderOptions& options);

std::string render_table(const Table& table, bool is_wide);  // UTF-8, human units
std::string render_md(const Table& table, bool is_wide);     // a GitHub table, human units
// Raw values, RFC 4180: a cell with a comma, a quote or a line break is quoted.
std::string render_csv(const Table& table);
// Raw values; tab, line break and backslash are written \t, \n, \r and \\.
std::string render_tsv(const Table& table);
// {study, schema_version, parameters, verdict, notes, rows}, rows keyed by column name, missing as null.
std::string render_json(const Table& table);

// The positions of the columns that a format for people shows; the column "unit" is folded into its row's value.
std::vector<std::size_t> shown_columns(const Table& table, bool is_wide);
// The row's word in the column "unit"; "" without one.
std::string unit_of_row(const Table& table, const Row& row);

}  // namespace jaxprof::study
