// Attributes are how a run file explains itself: unit, meaning and missing value on every dataset, identity on the
// root. This writes and reads one; texts are variable-length UTF-8, so that h5py gives str.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "agent/base/result.h"
#include "merge/runfile/hdf5_handle.h"
#include "merge/runfile/hdf5_types.h"

namespace jaxprof::runfile {

Status write_text_attribute(hid_t object, const char* name, std::string_view text);
Status write_raw_attribute(hid_t object, const char* name, hid_t type, const void* value);

// kInputUnreadable if it is absent or not a text.
Result<std::string> read_text_attribute(hid_t object, const char* name);
// Converts between numbers as HDF5 does; kInputUnreadable if it is absent, not a scalar or not a number.
Status read_raw_attribute(hid_t object, const char* name, hid_t type, void* value);

template <typename T>
Status write_attribute(hid_t object, const char* name, const T& value) {
  if constexpr (std::is_convertible_v<T, std::string_view>) {
    return write_text_attribute(object, name, value);
  } else {
    return write_raw_attribute(object, name, memory_type<T>().get(), &value);
  }
}

template <typename T>
Status read_attribute(hid_t object, const char* name, T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return read_text_attribute(object, name).map([&value](std::string&& text) { value = std::move(text); });
  } else {
    return read_raw_attribute(object, name, memory_type<T>().get(), &value);
  }
}

}  // namespace jaxprof::runfile
