// FORMAT.md is the text that other people's readers are written from. Each of its table lines is compared with
// schema.h, in both directions: nothing undescribed is written, nothing described is absent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "merge/runfile/hdf5_types.h"
#include "merge/runfile/schema.h"

namespace jaxprof::runfile {
namespace {

template <typename T>
std::string missing_text(const T& missing) {
  if constexpr (FileEnum<T>) {
    return "missing_value";
  } else if constexpr (std::is_same_v<T, StringId>) {
    return "0";
  } else if constexpr (std::is_same_v<T, double>) {
    return std::isnan(missing) ? "NaN" : "?";
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return missing == kNoPayload ? "-2^63" : std::to_string(missing);
  } else if constexpr (std::is_integral_v<T>) {
    if (missing == std::numeric_limits<T>::max()) return "2^" + std::to_string(8 * sizeof(T)) + "-1";
    return std::to_string(missing);
  } else {
    return "\"\"";
  }
}

template <typename T>
std::string column_line(const ColumnSpec<T>& column) {
  return "| `" + std::string(column.name) + "` | " + type_name<T>() + " | " + column.unit + " | " +
         missing_text(column.missing) + " | " + column.long_name + " |";
}

// What every group of counters has.
void add_counter_lines(CounterSubject subject, std::vector<std::string>* lines) {
  CounterTable table;
  table.subject = subject;
  table.driver = "DRIVER";
  lines->push_back("### `" + path_of(table) + "`: " + long_name_of(subject));
  for_each_column(table, [lines]<typename T>(const ColumnSpec<T>& column, const std::vector<T>&) {
    lines->push_back(column_line(column));
  });
  const OffsetSpec offset = offset_spec_of(subject);
  lines->push_back(column_line(ColumnSpec{offset.path, offset.unit, offset.long_name, kNoSample}));
}

// "| `name` | type | unit | missing | meaning |" for each column, after the line of its table.
std::vector<std::string> schema_lines() {
  std::vector<std::string> lines;
  const RunTables run;
  for_each_table(run, [&lines](const auto& table) {
    const TableSpec spec = spec_of(table);
    lines.push_back("### `" + std::string(spec.path) + "`: " + spec.long_name);
    for_each_column(table, [&lines]<typename T>(const ColumnSpec<T>& column, const std::vector<T>&) {
      lines.push_back(column_line(column));
    });
  });
  for (const CounterSubject subject : {CounterSubject::kNic, CounterSubject::kGpu}) add_counter_lines(subject, &lines);
  lines.push_back("## Offsets");
  for_each_offset(run, [&lines](const OffsetSpec& spec, const auto&, std::size_t, std::size_t) {
    lines.push_back("| `" + std::string(spec.path) + "` | u64 | " + spec.unit + " | 2^64-1 | " + spec.long_name + " |");
  });
  lines.push_back("## Root attributes");
  const RunAttributes attributes;
  for_each_attribute(attributes, [&lines]<typename T>(const AttributeSpec& spec, const T&) {
    std::string type = "text";
    if constexpr (!std::is_same_v<T, std::string>) type = type_name<T>();
    lines.push_back("| `" + std::string(spec.name) + "` | " + type + " | " + spec.unit + " | " + spec.long_name + " |");
  });
  return lines;
}

template <FileEnum E>
std::string words_line() {
  std::string line = "| `/types/" + std::string(EnumWords<E>::type_name) + "` | ";
  for (std::size_t i = 0; i < EnumWords<E>::words.size(); ++i) {
    line += (i > 0 ? ", " : "") + std::to_string(i) + " " + std::string(EnumWords<E>::words[i]);
  }
  return line + " |";
}

std::vector<std::string> expected_lines() {
  std::vector<std::string> lines = {words_line<Coll>(),     words_line<Dtype>(),      words_line<Redop>(),
                                    words_line<Algo>(),     words_line<Proto>(),      words_line<NcclSource>(),
                                    words_line<NvtxKind>(), words_line<StepSource>(), words_line<Severity>(),
                                    words_line<TaskState>()};
  for (const std::string& line :
       {words_line<GpuMode>(), words_line<MemopKind>(), words_line<MemoryKind>(), words_line<ApiLayer>(),
        words_line<OverheadKind>(), words_line<SyncKind>(), words_line<WindowCause>(), words_line<Timing>(),
        words_line<JoinPath>(), words_line<NicSource>(), words_line<ClockMethod>(), words_line<ClockStepKind>(),
        words_line<EnvScope>()}) {
    lines.push_back(line);
  }
  for (std::string& line : schema_lines()) lines.push_back(std::move(line));
  return lines;
}

// The described lines of FORMAT.md, in its order: rows of tables that begin with a name, and the headings over them.
std::vector<std::string> described_lines() {
  std::ifstream file(JAXPROF_FORMAT_MD);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `") || line.starts_with("### `") || line == "## Offsets" || line == "## Root attributes") {
      lines.push_back(line);
    }
  }
  return lines;
}

TEST(FormatMd, DescribesExactlyWhatIsWritten) {
  EXPECT_THAT(described_lines(), testing::ElementsAreArray(expected_lines()));
}

TEST(FormatMd, NamesTheSchemaVersion) {
  std::stringstream text;
  text << std::ifstream(JAXPROF_FORMAT_MD).rdbuf();
  EXPECT_THAT(text.str(), testing::HasSubstr("schema version " + std::string(kSchemaVersion)));
}

}  // namespace
}  // namespace jaxprof::runfile
