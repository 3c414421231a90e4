// One property, set everywhere.
#include "merge/runfile/hdf5_objects.h"

#include "merge/runfile/hdf5_session.h"

namespace jaxprof::runfile {

Handle timeless(hid_t kind) {
  Handle properties{H5Pcreate(kind), H5Pclose};
  H5Pset_obj_track_times(properties.get(), false);
  return properties;
}

Status make_groups_above(hid_t file, const std::string& path) {
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    const std::string name = path.substr(0, end);
    if (H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0) continue;
    const Handle creation = timeless(H5P_GROUP_CREATE);
    const Handle group{H5Gcreate2(file, name.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), H5Gclose};
    if (!group) return fail(ErrorCode::kOutputFailed, name + ": " + hdf5_cause());
  }
  return {};
}

}  // namespace jaxprof::runfile
