// Names repeat millions of times in a trace, and a variable-length string costs 32 bytes a row in HDF5. So a row holds
// a StringId and /strings/value holds each text once. This is that table while a run file is built or read.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace jaxprof::runfile {

// Index into /strings/value; 0 is the empty text and means "missing".
enum class StringId : std::uint32_t { kEmpty = 0 };

// One thread at a time.
class StringTable {
 public:
  StringTable() { intern(""); }

  // The id of `text`, new if it was not there yet. Bytes after an embedded NUL are cut: HDF5 strings end there.
  StringId intern(std::string_view text) {
    text = text.substr(0, text.find('\0'));
    return filter_ ? intern_verbatim(filter_(text)) : intern_verbatim(text);
  }

  // The same past the filter, for words that the program itself has chosen.
  StringId intern_verbatim(std::string_view text) {
    if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
    const auto id = static_cast<StringId>(texts_.size());
    ids_.emplace(texts_.emplace_back(text), id);
    return id;
  }

  // All texts that are interned from now on pass `filter` first, so that what it takes out is in no row.
  void set_filter(std::function<std::string(std::string_view)> filter) { filter_ = std::move(filter); }

  // A table without even the empty text; for a reader, which appends all of the file's.
  static StringTable without_texts() {
    StringTable table;
    table.ids_.clear();
    table.texts_.clear();
    return table;
  }

  // Appends a text under the next id even if it is there already; for a reader that must keep the file's ids.
  void append(std::string_view text) {
    ids_.emplace(texts_.emplace_back(text), static_cast<StringId>(texts_.size() - 1));
  }

  // The text of `id`; empty for an id that is not in the table. Valid as long as the table lives.
  std::string_view text(StringId id) const {
    const auto index = static_cast<std::size_t>(id);
    return index < texts_.size() ? std::string_view{texts_[index]} : std::string_view{};
  }

  std::size_t size() const { return texts_.size(); }

  StringTable(StringTable&&) = default;
  StringTable& operator=(StringTable&&) = default;

 private:
  std::deque<std::string> texts_;  // a deque: the keys of ids_ point into it
  std::unordered_map<std::string_view, StringId> ids_;
  std::function<std::string(std::string_view)> filter_;
};

}  // namespace jaxprof::runfile
