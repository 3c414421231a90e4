#include "launcher/option_words.h"

#include <cctype>
#include <cstring>

namespace jaxprof::launcher {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

// Reads a quoted part at text[*at], which is a quote, and leaves `*at` on the closing one.
bool read_quoted(std::string_view text, std::size_t* at, std::string* word) {
  const char quote = text[*at];
  for (++*at; *at < text.size(); ++*at) {
    char c = text[*at];
    if (c == quote) return true;
    if (quote == '"' && c == '\\' && *at + 1 < text.size() && std::strchr("\"\\$`", text[*at + 1]) != nullptr) {
      c = text[++*at];
    }
    *word += c;
  }
  return false;
}

}  // namespace

Result<std::vector<std::string>> split_option_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool is_in_word = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (is_blank(c)) {
      if (is_in_word) words.push_back(std::exchange(word, {}));
      is_in_word = false;
      continue;
    }
    is_in_word = true;
    if (c == '\'' || c == '"') {
      const std::size_t begin = at;
      if (!read_quoted(text, &at, &word)) {
        return fail(ErrorCode::kUsage, "the quote at offset " + std::to_string(begin) + " is not closed");
      }
    } else if (c == '\\') {
      if (at + 1 == text.size()) return fail(ErrorCode::kUsage, "it ends in a backslash");
      word += text[++at];
    } else {
      word += c;
    }
  }
  if (is_in_word) words.push_back(word);
  return words;
}

std::string quote_words(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    bool is_plain = !word.empty();
    for (const char c : word) {
      is_plain =
          is_plain && (std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("_-./=:,+@%", c) != nullptr);
    }
    if (is_plain) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      if (c == '\'') {
        line += "'\\''";
      } else {
        line += c;
      }
    }
    line += '\'';
  }
  return line;
}

}  // namespace jaxprof::launcher
