// Which HDF5 type a column's element has: in memory, and in the file. A word list is an enumeration over one byte;
// in the file it is the one committed under /types, so that all columns of one list share it.
#pragma once

#include <bit>
#include <string>

#include "agent/base/result.h"
#include "merge/runfile/hdf5_handle.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::runfile {

static_assert(std::endian::native == std::endian::little, "chunks are written as they lie in memory: little endian");

// Element types: the ten of run_tables.h. Predefined types come as copies, so that every Handle may be closed.
Handle copied_type(hid_t predefined);
Handle text_type(std::size_t bytes);  // fixed width, NUL padded, UTF-8
Handle enum_type(const EnumView& view);
Handle variable_text_type();

// Writes every word list under /types of `file`.
Status commit_enums(hid_t file);

template <typename T>
Handle memory_type() {
  if constexpr (FileEnum<T>) {
    return enum_type(enum_view<T>());
  } else if constexpr (std::is_same_v<T, StringId>) {
    return copied_type(H5T_STD_U32LE);
  } else if constexpr (std::is_same_v<T, double>) {
    return copied_type(H5T_IEEE_F64LE);
  } else if constexpr (std::is_integral_v<T>) {
    constexpr bool is_signed = std::is_signed_v<T>;
    switch (sizeof(T)) {
      case 1:
        return copied_type(is_signed ? H5T_STD_I8LE : H5T_STD_U8LE);
      case 2:
        return copied_type(is_signed ? H5T_STD_I16LE : H5T_STD_U16LE);
      case 4:
        return copied_type(is_signed ? H5T_STD_I32LE : H5T_STD_U32LE);
      default:
        return copied_type(is_signed ? H5T_STD_I64LE : H5T_STD_U64LE);
    }
  } else {
    return text_type(T::kBytes);
  }
}

// The same, but a word list is the committed one of `file`.
template <typename T>
Handle file_type(hid_t file) {
  if constexpr (FileEnum<T>) {
    const std::string path = "/types/" + std::string(EnumWords<T>::type_name);
    return {H5Topen2(file, path.c_str(), H5P_DEFAULT), H5Tclose};
  } else {
    return memory_type<T>();
  }
}

// Name for FORMAT.md and for messages: "i64", "u8", "enum coll", "text[48]", "string id".
template <typename T>
std::string type_name() {
  if constexpr (FileEnum<T>) {
    return "enum " + std::string(EnumWords<T>::type_name);
  } else if constexpr (std::is_same_v<T, StringId>) {
    return "u32";
  } else if constexpr (std::is_same_v<T, double>) {
    return "f64";
  } else if constexpr (std::is_integral_v<T>) {
    return (std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
  } else {
    return "text[" + std::to_string(T::kBytes) + "]";
  }
}

}  // namespace jaxprof::runfile
