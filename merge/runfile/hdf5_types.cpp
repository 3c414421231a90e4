// Makes the HDF5 types that a run file uses.
#include "merge/runfile/hdf5_types.h"

#include "merge/runfile/hdf5_objects.h"
#include "merge/runfile/hdf5_session.h"

namespace jaxprof::runfile {
namespace {

template <FileEnum E>
Status commit_enum(hid_t file) {
  const Handle type = memory_type<E>();
  const std::string path = "/types/" + std::string(EnumWords<E>::type_name);
  const Handle creation = timeless(H5P_DATATYPE_CREATE);
  if (H5Tcommit2(file, path.c_str(), type.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT) < 0) {
    return fail(ErrorCode::kOutputFailed, path + ": " + hdf5_cause());
  }
  return {};
}

}  // namespace

Handle copied_type(hid_t predefined) {
  return {H5Tcopy(predefined), H5Tclose};
}

Handle text_type(std::size_t bytes) {
  Handle type = copied_type(H5T_C_S1);
  H5Tset_size(type.get(), bytes);
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  // Declared ASCII: pandas cannot open a compound table with UTF-8 fields. Ids and addresses are ASCII anyway.
  return type;
}

Handle variable_text_type() {
  Handle type = copied_type(H5T_C_S1);
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

Handle enum_type(const EnumView& view) {
  Handle type{H5Tenum_create(H5T_STD_U8LE), H5Tclose};
  std::uint8_t value = 0;
  for (const std::string_view text : view.words) {
    H5Tenum_insert(type.get(), std::string(text).c_str(), &value);
    ++value;
  }
  value = kNoByte;
  H5Tenum_insert(type.get(), "missing_value", &value);
  return type;
}

Status commit_enums(hid_t file) {
  return make_groups_above(file, "/types/coll")
      .and_then([file] { return commit_enum<Coll>(file); })
      .and_then([file] { return commit_enum<Dtype>(file); })
      .and_then([file] { return commit_enum<Redop>(file); })
      .and_then([file] { return commit_enum<Algo>(file); })
      .and_then([file] { return commit_enum<Proto>(file); })
      .and_then([file] { return commit_enum<NcclSource>(file); })
      .and_then([file] { return commit_enum<NvtxKind>(file); })
      .and_then([file] { return commit_enum<StepSource>(file); })
      .and_then([file] { return commit_enum<Severity>(file); })
      .and_then([file] { return commit_enum<TaskState>(file); })
      .and_then([file] { return commit_enum<GpuMode>(file); })
      .and_then([file] { return commit_enum<MemopKind>(file); })
      .and_then([file] { return commit_enum<MemoryKind>(file); })
      .and_then([file] { return commit_enum<ApiLayer>(file); })
      .and_then([file] { return commit_enum<OverheadKind>(file); })
      .and_then([file] { return commit_enum<SyncKind>(file); })
      .and_then([file] { return commit_enum<WindowCause>(file); })
      .and_then([file] { return commit_enum<Timing>(file); })
      .and_then([file] { return commit_enum<JoinPath>(file); })
      .and_then([file] { return commit_enum<NicSource>(file); })
      .and_then([file] { return commit_enum<ClockMethod>(file); })
      .and_then([file] { return commit_enum<ClockStepKind>(file); })
      .and_then([file] { return commit_enum<EnvScope>(file); });
}

}  // namespace jaxprof::runfile
