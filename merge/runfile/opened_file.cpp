// Asks in the order in which a person would want the answer: is it there, is it HDF5, is it ours, is it of our time, is
// it finished.
#include "merge/runfile/opened_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <charconv>
#include <string_view>

#include "agent/base/unique_fd.h"
#include "merge/runfile/attributes.h"
#include "merge/runfile/hdf5_session.h"
#include "merge/runfile/schema.h"

namespace jaxprof::runfile {
namespace {

tl::unexpected<Error> unreadable(std::string message) {
  return fail(ErrorCode::kInputUnreadable, std::move(message));
}

Status check_is_file(const std::string& path) {
  const UniqueFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd) return fail_errno(ErrorCode::kInputUnreadable, "cannot be opened");
  struct stat found {};
  if (::fstat(fd.get(), &found) != 0) return fail_errno(ErrorCode::kInputUnreadable, "cannot be opened");
  if (!S_ISREG(found.st_mode)) return unreadable("is not a regular file");
  if (found.st_size == 0) return unreadable("is empty");
  return {};
}

Result<Handle> open_hdf5(const std::string& path) {
  if (auto there = check_is_file(path); !there) return tl::unexpected(std::move(there.error()));
  if (H5Fis_hdf5(path.c_str()) <= 0) return unreadable("is not a run file (not HDF5)");
  const Handle access = file_access();
  Handle file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose};
  if (!file) return unreadable("is damaged or cut short: " + hdf5_cause());
  return file;
}

Status check_schema(hid_t file, std::string& schema_version) {
  const auto schema = read_text_attribute(file, "schema");
  if (!schema) return unreadable("is HDF5 but not a run file: " + schema.error().message);
  const auto refuse = [&schema] {
    return unreadable("is of another schema: \"" + *schema + "\" instead of \"" + std::string(kSchemaName) + "\"");
  };
  constexpr std::string_view kFamily = kSchemaName.substr(0, kSchemaName.find('/') + 1);
  if (!std::string_view{*schema}.starts_with(kFamily)) return refuse();
  if (auto read = read_attribute(file, "schema_version", schema_version); !read) return read;
  unsigned major = 0;
  const auto [end, error] =
      std::from_chars(schema_version.data(), schema_version.data() + schema_version.size(), major);
  if (error != std::errc{} || *end != '.') return unreadable("has the schema version \"" + schema_version + "\"");
  if (major != 1) {
    return unreadable("has schema version " + schema_version +
                      ", this program reads 1.x; take the jaxprof that wrote it");
  }
  if (*schema != kSchemaName) return refuse();
  return {};
}

// The minor version of "1.MINOR.PATCH"; 0 if it cannot be read.
unsigned minor_of(std::string_view schema_version) {
  const std::string_view rest = schema_version.substr(std::min(schema_version.find('.') + 1, schema_version.size()));
  unsigned minor = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), minor);
  return minor;
}

Status check_complete(hid_t file) {
  std::uint8_t complete = 0;
  if (read_attribute(file, "complete", complete) && complete == 1) return {};
  return unreadable("is not complete: the merge that wrote it did not finish; merge again");
}

Status read_attributes(OpenedFile& opened) {
  Status status;
  for_each_attribute(opened.attributes, [&](const AttributeSpec& spec, auto& value) {
    const bool is_lacking = opened.is_older && H5Aexists(opened.file.get(), spec.name) <= 0;
    if (status && !is_lacking) status = read_attribute(opened.file.get(), spec.name, value);
  });
  return status;
}

}  // namespace

Result<OpenedFile> open_run_file(const std::string& path) {
  OpenedFile opened;
  auto status = open_hdf5(path).map([&opened](Handle&& file) { opened.file = std::move(file); });
  const auto then = [&status](auto&& step) {
    if (status) status = step();
  };
  then([&] { return check_schema(opened.file.get(), opened.schema_version); });
  opened.is_older = minor_of(opened.schema_version) < minor_of(kSchemaVersion);
  then([&] { return check_complete(opened.file.get()); });
  then([&] { return read_attribute(opened.file.get(), "tool_version", opened.tool_version); });
  then([&] { return read_attributes(opened); });
  if (!status) return tl::unexpected(std::move(status.error()));
  return opened;
}

}  // namespace jaxprof::runfile
