#include "merge/study/kernel_class.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "merge/study/kernel_name.h"
#include "merge/study/row_cursor.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

void set(std::vector<std::uint64_t>& bits, std::uint64_t row, std::uint64_t n_rows) {
  if (row >= n_rows) return;
  if (bits.empty()) bits.resize(n_rows / 64 + 1);
  bits[row / 64] |= std::uint64_t{1} << (row % 64);
}

}  // namespace

bool is_comm_kernel_name(std::string_view name) {
  std::string text = base_name(demangled(name));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 6> kBegins = {"nccldevkernel",     "ncclkernel", "ncclsymdevkernel",
                                                       "ncclsymkdevkernel", "nccl:",      "nvshmem"};
  return std::any_of(kBegins.begin(), kBegins.end(), [&](std::string_view begin) { return text.starts_with(begin); });
}

bool CommWork::is_comm_name(StringId name) {
  const auto id = static_cast<std::size_t>(name);
  if (id >= by_name_.size()) return false;
  std::uint8_t& known = by_name_[id];
  if (known == kUnknown) known = is_comm_kernel_name(strings_->text(name)) ? 1 : 0;
  return known == 1;
}

Result<CommWork> CommWork::load(const RunFileReader& reader, const StringTable& strings) {
  CommWork work(strings);
  const auto n_kernels = reader.count_rows<KernelTable>();
  if (!n_kernels) return tl::unexpected(n_kernels.error());
  const auto n_memops = reader.count_rows<MemopTable>();
  if (!n_memops) return tl::unexpected(n_memops.error());
  auto cursor = RowCursor<NcclWorkTable>::open(
      reader, [](std::string_view path) { return path == "/nccl_work/kernel" || path == "/nccl_work/memop"; });
  if (!cursor) return tl::unexpected(cursor.error());
  for (std::uint64_t row = 0; row < cursor->n_rows(); row = cursor->end()) {
    if (auto read = cursor->seek(row); !read) return tl::unexpected(read.error());
    for (const std::uint64_t kernel : cursor->table().kernel) set(work.kernels_, kernel, *n_kernels);
    for (const std::uint64_t memop : cursor->table().memop) set(work.memops_, memop, *n_memops);
  }
  return work;
}

}  // namespace jaxprof::study
