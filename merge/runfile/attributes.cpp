// One scalar attribute, written or read.
#include "merge/runfile/attributes.h"

#include "merge/runfile/hdf5_session.h"
#include "merge/runfile/utf8.h"

namespace jaxprof::runfile {
namespace {

tl::unexpected<Error> unreadable(const char* name, const std::string& why) {
  return fail(ErrorCode::kInputUnreadable, "attribute " + std::string(name) + " " + why);
}

// The scalar attribute `name`, or no handle.
Handle open_scalar(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return {};
  Handle attribute{H5Aopen(object, name, H5P_DEFAULT), H5Aclose};
  const Handle space{H5Aget_space(attribute.get()), H5Sclose};
  if (H5Sget_simple_extent_npoints(space.get()) != 1) return {};
  return attribute;
}

}  // namespace

Status write_raw_attribute(hid_t object, const char* name, hid_t type, const void* value) {
  const Handle space{H5Screate(H5S_SCALAR), H5Sclose};
  const Handle attribute{H5Acreate2(object, name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose};
  if (!attribute || H5Awrite(attribute.get(), type, value) < 0) {
    return fail(ErrorCode::kOutputFailed, "attribute " + std::string(name) + ": " + hdf5_cause());
  }
  return {};
}

Status write_text_attribute(hid_t object, const char* name, std::string_view text) {
  const std::string valid = valid_utf8(text);
  const char* pointer = valid.c_str();
  return write_raw_attribute(object, name, variable_text_type().get(), &pointer);
}

Status read_raw_attribute(hid_t object, const char* name, hid_t type, void* value) {
  const Handle attribute = open_scalar(object, name);
  if (!attribute) return unreadable(name, "is missing");
  const Handle stored{H5Aget_type(attribute.get()), H5Tclose};
  const H5T_class_t kind = H5Tget_class(stored.get());
  if (kind != H5T_INTEGER && kind != H5T_FLOAT) return unreadable(name, "is not a number");
  if (H5Aread(attribute.get(), type, value) < 0) return unreadable(name, "cannot be read: " + hdf5_cause());
  return {};
}

Result<std::string> read_text_attribute(hid_t object, const char* name) {
  const Handle attribute = open_scalar(object, name);
  if (!attribute) return unreadable(name, "is missing");
  const Handle stored{H5Aget_type(attribute.get()), H5Tclose};
  if (H5Tget_class(stored.get()) != H5T_STRING || H5Tis_variable_str(stored.get()) <= 0) {
    return unreadable(name, "is not a text");
  }
  char* pointer = nullptr;
  const Handle type{H5Tget_native_type(stored.get(), H5T_DIR_ASCEND), H5Tclose};
  if (H5Aread(attribute.get(), type.get(), &pointer) < 0) return unreadable(name, "cannot be read: " + hdf5_cause());
  std::string text = pointer == nullptr ? std::string{} : std::string{pointer};
  H5free_memory(pointer);
  return text;
}

}  // namespace jaxprof::runfile
