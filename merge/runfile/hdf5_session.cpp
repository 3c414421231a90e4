// The switches of HDF5 that a command-line tool needs, and the reading of its error stack.
#include "merge/runfile/hdf5_session.h"

#include <string_view>

namespace jaxprof::runfile {
namespace {

// H5Ewalk2 callback: keeps the first description, which is the innermost.
herr_t keep_first(unsigned, const H5E_error2_t* error, void* out) {
  auto& text = *static_cast<std::string*>(out);
  if (text.empty() && error->desc != nullptr) text = error->desc;
  return 0;
}

}  // namespace

void prepare_hdf5() {
  // After a full disk the file cannot be closed, and HDF5's exit handler then crashes on what is left of it. We close
  // everything ourselves, so that handler has nothing to do.
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLset_loading_state(0);
}

std::string hdf5_cause() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  // The file driver buries errno's text: "file write failed: time = …, error message = 'No space left on device', …".
  constexpr std::string_view kMark = "error message = '";
  if (const auto at = text.find(kMark); at != std::string::npos) {
    const auto begin = at + kMark.size();
    return text.substr(begin, text.find('\'', begin) - begin);
  }
  return text.empty() ? "HDF5 gave no cause" : text;
}

Handle file_access() {
  Handle access{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V110);
  // The writer's .part has its own lock and a finished file never changes, so HDF5's lock protects nothing here, while
  // on Lustre and NFS without flock it makes the open fail. HDF5_USE_FILE_LOCKING still overrides this.
  H5Pset_file_locking(access.get(), false, true);
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  return access;
}

}  // namespace jaxprof::runfile
