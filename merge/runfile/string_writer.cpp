// Variable-length texts do not go through the chunk writer: their bytes lie in HDF5's own heap, uncompressed.
#include "merge/runfile/string_writer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "merge/runfile/attributes.h"
#include "merge/runfile/hdf5_objects.h"
#include "merge/runfile/hdf5_session.h"
#include "merge/runfile/utf8.h"

namespace jaxprof::runfile {
namespace {

constexpr const char* kPath = "/strings/value";
constexpr std::size_t kStringsAtOnce = 65'536;

tl::unexpected<Error> failed() {
  return fail(ErrorCode::kOutputFailed, std::string(kPath) + ": " + hdf5_cause());
}

Status write_texts(hid_t dataset, hid_t type, hid_t space, const StringTable& strings) {
  std::vector<std::string> texts;
  std::vector<const char*> pointers;
  for (std::size_t first = 0; first < strings.size(); first += kStringsAtOnce) {
    const hsize_t start = first;
    const hsize_t count = std::min(kStringsAtOnce, strings.size() - first);
    texts.clear();
    pointers.clear();
    for (hsize_t i = 0; i < count; ++i) {
      texts.push_back(valid_utf8(strings.text(static_cast<StringId>(start + i))));
    }
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    const Handle from{H5Screate_simple(1, &count, nullptr), H5Sclose};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &count, nullptr);
    if (H5Dwrite(dataset, type, from.get(), space, H5P_DEFAULT, pointers.data()) < 0) return failed();
  }
  return {};
}

}  // namespace

Status write_strings(hid_t file, const StringTable& strings) {
  if (auto made = make_groups_above(file, kPath); !made) return made;
  const Handle type = variable_text_type();
  const hsize_t n = strings.size();
  const Handle space{H5Screate_simple(1, &n, nullptr), H5Sclose};
  const Handle creation = timeless(H5P_DATASET_CREATE);
  const Handle dataset{H5Dcreate2(file, kPath, type.get(), space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
                       H5Dclose};
  if (!dataset) return failed();
  return write_texts(dataset.get(), type.get(), space.get(), strings)
      .and_then([&] { return write_text_attribute(dataset.get(), "units", "text"); })
      .and_then([&] { return write_text_attribute(dataset.get(), "long_name", "texts by id; 0 is the empty text"); })
      .and_then([&] { return write_text_attribute(dataset.get(), "missing_value", ""); });
}

}  // namespace jaxprof::runfile
