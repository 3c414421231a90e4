// The buffers that a client lends to CUPTI: asked for on the thread that needs room, filled with records of which some
// are not complete yet, given back when full and complete, or at a flush. No lock is held while the client is called.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/doubles/cuda/cupti/record_writer.h"

namespace jaxprof::fake_cuda {

// One lent buffer.
struct LentBuffer {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
  std::size_t max_records = 0;  // 0: as many as fit
  std::size_t record_count = 0;
  std::size_t incomplete = 0;
  std::uint64_t thread = 0;
  bool is_returned = false;
};

// Where a record lies, until it is complete.
struct RecordSlot {
  std::shared_ptr<LentBuffer> buffer;  // null: dropped
  std::size_t offset = 0;
};

// How the client is called; the two generations of callbacks differ.
struct BufferCallbacks {
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  CUpti_BuffersCallbackRequestFunc_v2 request_v2 = nullptr;
  CUpti_BuffersCallbackCompleteFunc_v2 complete_v2 = nullptr;
};

class BufferPool {
 public:
  void set_callbacks(const BufferCallbacks& callbacks);
  bool has_callbacks();
  void set_per_thread(bool is_per_thread) { is_per_thread_ = is_per_thread; }
  void set_zeroed(bool is_zeroed) { is_zeroed_ = is_zeroed; }
  // Does each buffer begin with a record of how long the client took to lend it?
  void set_records_overhead(bool is_recorded) { records_overhead_ = is_recorded; }

  // Appends a record; it counts as incomplete until complete() if `is_complete` is false. Any thread.
  RecordSlot append(const RecordBytes& record, bool is_complete);
  // Replaces an incomplete record. False if its buffer has been given back meanwhile.
  bool complete(const RecordSlot& slot, const RecordBytes& record);
  void flush(bool is_forced);
  // Gives full, complete buffers back: CUPTI's worker thread.
  void give_back_full();
  // Counted since the last call.
  std::size_t take_dropped();

 private:
  std::shared_ptr<LentBuffer> room_for(std::size_t bytes, std::unique_lock<std::mutex>& lock);
  std::shared_ptr<LentBuffer> request(const BufferCallbacks& callbacks);
  std::shared_ptr<LentBuffer> timed_request(const BufferCallbacks& callbacks);
  void retire(std::shared_ptr<LentBuffer> buffer);
  void give_back(const std::vector<std::shared_ptr<LentBuffer>>& buffers);

  std::mutex mutex_;
  BufferCallbacks callbacks_;
  std::atomic<bool> is_per_thread_{false};
  std::atomic<bool> is_zeroed_{false};
  std::atomic<bool> records_overhead_{false};
  std::map<std::uint64_t, std::shared_ptr<LentBuffer>> current_;  // by thread, or one under 0
  std::vector<std::shared_ptr<LentBuffer>> retired_;              // full, some record incomplete
  std::vector<std::shared_ptr<LentBuffer>> full_;                 // full and complete
  std::size_t dropped_ = 0;
  std::uint64_t appended_ = 0;
};

}  // namespace jaxprof::fake_cuda
