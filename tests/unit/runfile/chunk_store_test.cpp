// What was put is what is had back, from memory and from the scratch file.
#include "merge/runfile/chunk_store.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/unit/runfile/temp_folder.h"

namespace jaxprof::runfile {
namespace {

TEST(ChunkStore, GivesBackChunksOfSeveralThreads) {
  const test::TempFolder folder;
  ChunkStore store{folder.path(), 10'000};
  std::vector<StoredChunk> chunks(400);
  const auto content = [](std::size_t i) { return Bytes(1 + i, static_cast<std::byte>(i)); };
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::size_t i = thread; i < chunks.size(); i += 4) ASSERT_TRUE(store.put(content(i), chunks[i]));
      });
    }
  }
  Bytes buffer;
  std::size_t in_memory = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const auto got = store.get(chunks[i], buffer);
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(Bytes(got->begin(), got->end()), content(i));
    in_memory += chunks[i].bytes.size();
  }
  EXPECT_LE(in_memory, 10'000U);
  EXPECT_GT(in_memory, 9'000U);
}

TEST(ChunkStore, NamesTheFolderThatTakesNothing) {
  ChunkStore store{"/nonexistent", 0};
  StoredChunk chunk;
  const auto put = store.put(Bytes(3), chunk);
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, ErrorCode::kOutputFailed);
  EXPECT_NE(put.error().message.find("/nonexistent"), std::string::npos);
}

}  // namespace
}  // namespace jaxprof::runfile
