// However many processes and threads merge a run, and however little memory they have, the file is the same.
#include "merge/mpi/shared_parts.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "merge/mpi/part_messages.h"
#include "merge/mpi/part_server.h"
#include "merge/program/file_sink.h"
#include "tests/unit/assembly/gpu_rank.h"
#include "tests/unit/mpi/thread_peers.h"

namespace jaxprof::merge {
namespace {

using assembly::AssembledRun;
using assembly::Room;

constexpr int kRanks = 11;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class SharedPartsTest : public testing::Test {
 protected:
  SharedPartsTest() {
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      test::GpuRank recording(rank, 10 * static_cast<std::uint64_t>(rank));
      recording.device(static_cast<std::uint8_t>(rank % 4 + 1));
      for (int i = 0; i < 50 * rank; ++i) {
        const auto stamp = 3000 + 20 * static_cast<std::uint64_t>(i);
        recording.kernel("kernel " + std::to_string(i % (rank + 1)), test::gpu(stamp), 10, 1,
                         100 + static_cast<std::uint64_t>(i));
      }
      run_.add_rank(recording, rank, kRanks, "n" + std::to_string(rank % 3));
    }
  }

  assembly::RunSources sources() const {
    return assembly::open_sources(rundir::read_run_directory(run_.path())->runs.at(0));
  }
  Room room(unsigned n_threads, std::size_t budget_bytes) const {
    Room room;
    room.n_threads = n_threads;
    room.budget_bytes = budget_bytes;
    room.scratch_folder = run_.path();
    return room;
  }

  // Writes the file with what `assemble` makes, and answers its bytes.
  std::string written(const std::function<Result<AssembledRun>(assembly::EventSink*)>& assemble) const {
    const std::string path = run_.file("run.h5");
    runfile::WriteOptions options;
    options.may_replace = true;
    auto stream = runfile::RunFileStream::create(path, options);
    EXPECT_TRUE(stream);
    FileSink sink(&*stream);
    auto assembled = assemble(&sink);
    EXPECT_TRUE(assembled) << (assembled ? "" : assembled.error().message);
    if (!assembled) return "";
    const auto done = stream->finish(assembled->tables);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    return bytes_of(path);
  }

  std::string by_one(unsigned n_threads, std::size_t budget_bytes) const {
    return written([&](assembly::EventSink* sink) {
      return assembly::assemble_run(rundir::read_run_directory(run_.path())->runs.at(0), room(n_threads, budget_bytes),
                                    sink);
    });
  }

  std::string by_several(int n_peers, bool sends_wait) const {
    std::string bytes;
    test::ThreadPeers(n_peers, sends_wait).run([&](Peers* peers) {
      const assembly::RunSources own = sources();
      if (peers->rank() > 0) {
        EXPECT_TRUE(serve_parts(own, 2, 1 << 20, runfile::Compression::kGzip, peers));
        return;
      }
      bytes = written([&](assembly::EventSink* sink) {
        const Room all = room(2, 1 << 20);
        SharedParts parts(own, all.n_threads, all.budget_bytes, peers);
        return assembly::assemble_run(own, all, &parts, sink);
      });
    });
    return bytes;
  }

  test::RunFolder run_;
};

TEST_F(SharedPartsTest, ThreadsAndMemoryDoNotChangeTheFile) {
  const std::string file = by_one(1, 64 << 20);
  ASSERT_GT(file.size(), 100'000u);
  EXPECT_TRUE(by_one(4, 64 << 20) == file);
  EXPECT_TRUE(by_one(3, 1) == file) << "all records of calls in scratch files";
}

TEST_F(SharedPartsTest, SeveralProcessesWriteTheFileOfOne) {
  const std::string file = by_one(2, 64 << 20);
  for (const int n_peers : {1, 2, 3, 5, kRanks + 2}) {
    EXPECT_TRUE(by_several(n_peers, false) == file) << n_peers << " processes";
    EXPECT_TRUE(by_several(n_peers, true) == file) << n_peers << " processes, whose messages wait to be taken";
  }
}

TEST_F(SharedPartsTest, WhoSeesOtherSpoolsIsFoundOut) {
  const Message all = pack(sources());
  EXPECT_EQ(pack(sources()), all);
  std::filesystem::remove(run_.file("rank3.jxspool"));
  EXPECT_NE(pack(sources()), all);
}

}  // namespace
}  // namespace jaxprof::merge
