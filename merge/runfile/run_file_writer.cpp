// A run that is in memory is a stream of one part.
#include "merge/runfile/run_file_writer.h"

#include "merge/runfile/output_file.h"
#include "merge/runfile/run_file_stream.h"

namespace jaxprof::runfile {

Result<WrittenFile> write_run_file(const RunTables& run, const std::string& path, const WriteOptions& options) {
  const auto& member_offset = run.collective_member_offset;
  if (member_offset.empty() || member_offset.front() != 0) {
    return fail(ErrorCode::kOutputFailed, path + ": /collectives/member_offset: does not ascend from 0");
  }
  auto stream = RunFileStream::create(path, options);
  if (!stream) return tl::unexpected(std::move(stream.error()));
  auto status = stream->append(run);
  if (status) status = stream->append_member_ends(std::span(member_offset).subspan(1));
  if (!status) return tl::unexpected(std::move(status.error()));
  return stream->finish(run);
}

Status check_output(const std::string& path, bool may_replace) {
  return OutputFile::create(path, may_replace).map([](const OutputFile&) {});
}

}  // namespace jaxprof::runfile
