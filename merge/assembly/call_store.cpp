#include "merge/assembly/call_store.h"

#include <cstring>
#include <span>
#include <utility>

#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

std::size_t row_bytes() {
  std::size_t bytes = sizeof(std::uint32_t);  // calls_in_plan
  const runfile::NcclTable table;
  runfile::for_each_column(table, [&bytes]<typename T>(const auto&, const std::vector<T>&) { bytes += sizeof(T); });
  return bytes;
}

}  // namespace

Status CallStore::put(StoredCalls calls) {
  calls.rows.instance.clear();
  calls.rows.transfer.clear();
  Entry entry;
  entry.n_rows = runfile::n_rows(calls.rows);
  entry.calls = std::move(calls);
  const std::size_t bytes = entry.n_rows * row_bytes();
  if (kept_bytes_ + bytes <= budget_bytes_) {
    kept_bytes_ += bytes;
  } else if (auto written = write(&entry); !written) {
    return written;
  }
  entries_.push_back(std::move(entry));
  return {};
}

Status CallStore::write(Entry* entry) {
  if (!file_) {
    auto file = scratch::ScratchFile::create(folder_);
    if (!file) return tl::unexpected(std::move(file.error()));
    file_ = std::move(*file);
  }
  entry->is_in_file = true;
  entry->offset = file_->size_bytes();
  Status status = file_->append(std::as_bytes(std::span(entry->calls.calls_in_plan)));
  runfile::for_each_column(entry->calls.rows, [&](const auto&, auto& column) {
    if (status) status = file_->append(std::as_bytes(std::span(column)));
  });
  entry->calls.rows = {};
  entry->calls.calls_in_plan = {};
  return status;
}

Result<StoredCalls> CallStore::take(std::size_t process) {
  Entry& entry = entries_[process];
  StoredCalls calls = std::move(entry.calls);
  if (!entry.is_in_file) return calls;
  std::uint64_t at = entry.offset;
  const auto read = [&]<typename T>(std::vector<T>& column) {
    column.resize(entry.n_rows);
    const auto bytes = std::as_writable_bytes(std::span(column));
    Status status = file_->read(at, bytes);
    at += bytes.size();
    return status;
  };
  Status status = read(calls.calls_in_plan);
  runfile::for_each_column(calls.rows, [&](const auto&, auto& column) {
    const auto* late = static_cast<const void*>(&column);
    if (late == &calls.rows.instance || late == &calls.rows.transfer || !status) return;
    status = read(column);
  });
  if (!status) return tl::unexpected(std::move(status.error()));
  return calls;
}

}  // namespace jaxprof::assembly
