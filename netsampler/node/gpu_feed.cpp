#include "netsampler/node/gpu_feed.h"

#include <string>

#include "netsampler/gpu/gpu_columns.h"
#include "netsampler/gpu/gpu_state.h"

namespace jaxprof::netsampler {

void GpuFeed::start() {
  std::string why;
  is_started_ = source_->start(&why);
  if (!is_started_) spool_->note(spool::NodeNote::kNoGpu, why, clock_->raw_ns());
}

void GpuFeed::write_board(const GpuBoard& board) {
  const GpuStrings texts{spool_->text(board.name), spool_->text(board.uuid), spool_->text(board.pci),
                         spool_->text(board.driver)};
  spool_->state(spool::StateKind::kNodeGpu, gpu_state(board, texts));
  if (!has_samples(board) || streams_.contains(board.number)) return;
  std::vector<spool::StringId> names;
  for (const GpuColumnInfo& column : gpu_columns()) names.push_back(spool_->text(column.name));
  const std::uint32_t stream = spool_->open_stream(names.size(), names.size());
  spool_->state(gpu_stream_state(stream, board.number, names));
  streams_[board.number] = stream;
}

void GpuFeed::poll() {
  if (!is_started_) return;
  const GpuUpdate update = source_->poll();
  has_answer_ = has_answer_ || !update.rows.empty() || !update.notes.empty();
  for (const GpuBoard& board : update.boards) write_board(board);
  for (const GpuRow& row : update.rows) {
    const auto stream = streams_.find(row.board);
    if (stream != streams_.end()) spool_->add_row(stream->second, gpu_sample_row(row));
  }
  for (const GpuNote& note : update.notes) spool_->note(note.note, note.text, clock_->raw_ns());
}

void GpuFeed::finish() {
  poll();
  if (!is_started_ || has_answer_) return;
  spool_->note(spool::NodeNote::kNoGpu, "the GPUs' driver had given no values when the observer ended",
               clock_->raw_ns());
}

}  // namespace jaxprof::netsampler
