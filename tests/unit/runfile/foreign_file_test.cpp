// Files that are not what they should be: one line that names the file and the exact cause, never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <hdf5_hl.h>

#include <filesystem>
#include <fstream>

#include "merge/runfile/attributes.h"
#include "merge/runfile/hdf5_session.h"
#include "merge/runfile/run_file_reader.h"
#include "merge/runfile/run_file_writer.h"
#include "merge/runfile/table_rows.h"
#include "tests/unit/runfile/sample_run.h"
#include "tests/unit/runfile/temp_folder.h"

namespace jaxprof::runfile {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class ForeignFile : public testing::Test {
 protected:
  ForeignFile() { prepare_hdf5(); }
  std::string path() const { return folder_.file("run.h5"); }
  void write_bytes(std::string_view bytes) const { std::ofstream(path(), std::ios::binary) << bytes; }
  void write_sample() const { ASSERT_TRUE(write_run_file(test::sample_run(), path())); }

  // Opens the sample for writing behind the reader's back.
  Handle tampered() const {
    write_sample();
    return {H5Fopen(path().c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose};
  }
  void replace_text(hid_t file, const char* name, const char* text) const {
    ASSERT_GE(H5Adelete(file, name), 0);
    ASSERT_TRUE(write_text_attribute(file, name, text));
  }

  // The one line that open or read_all gives.
  std::string refusal() const {
    auto reader = RunFileReader::open(path());
    const auto run = reader.and_then([](const RunFileReader& open) { return open.read_all(); });
    if (run) return "no error";
    EXPECT_EQ(run.error().code, ErrorCode::kInputUnreadable);
    EXPECT_EQ(run.error().message.find('\n'), std::string::npos);
    EXPECT_THAT(run.error().message, StartsWith(path() + ": "));
    return run.error().message;
  }

  test::TempFolder folder_;
};

TEST_F(ForeignFile, IsAbsent) {
  EXPECT_THAT(refusal(), HasSubstr("No such file"));
}

TEST_F(ForeignFile, IsAFolder) {
  std::filesystem::create_directory(path());
  EXPECT_THAT(refusal(), HasSubstr("not a regular file"));
}

TEST_F(ForeignFile, IsEmpty) {
  write_bytes("");
  EXPECT_THAT(refusal(), HasSubstr("is empty"));
}

TEST_F(ForeignFile, IsNotHdf5) {
  write_bytes(std::string(4096, 'x'));
  EXPECT_THAT(refusal(), HasSubstr("not HDF5"));
}

TEST_F(ForeignFile, IsCutShort) {
  write_sample();
  std::filesystem::resize_file(path(), std::filesystem::file_size(path()) / 2);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("cut short"), HasSubstr("truncated")));
}

TEST_F(ForeignFile, IsHdf5OfSomebodyElse) {
  { const Handle file{H5Fcreate(path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose}; }
  EXPECT_THAT(refusal(), HasSubstr("HDF5 but not a run file"));
}

TEST_F(ForeignFile, HasAnotherSchema) {
  {
    const Handle file = tampered();
    replace_text(file.get(), "schema", "otherprof/1");
  }
  EXPECT_THAT(refusal(), HasSubstr("\"otherprof/1\" instead of \"jaxprof/1\""));
}

TEST_F(ForeignFile, HasANewerMajorVersion) {
  {
    const Handle file = tampered();
    replace_text(file.get(), "schema", "jaxprof/2");
    replace_text(file.get(), "schema_version", "2.0.0");
  }
  EXPECT_THAT(refusal(), HasSubstr("schema version 2.0.0, this program reads 1.x"));
}

TEST_F(ForeignFile, IsTakenWithANewerMinorVersion) {
  {
    const Handle file = tampered();
    replace_text(file.get(), "schema_version", "1.7.2");
  }
  EXPECT_EQ(refusal(), "no error");
}

// As the first jaxprof wrote them: no GPUs, no windows, fewer columns.
TEST_F(ForeignFile, IsTakenWithAnOlderMinorVersion) {
  {
    const Handle file = tampered();
    replace_text(file.get(), "schema_version", "1.0.0");
    for (const char* path : {"/events/kernels", "/events/memops", "/events/api", "/events/overhead", "/events/graphs",
                             "/events/syncs", "/events/cuda_events", "/launch_configs", "/nccl_work", "/segments",
                             "/events/nccl/replay", "/events/nccl/timing", "/events/nccl/path", "/collectives/replay",
                             "/collectives/last_arrival", "/events/nccl/capture", "/collectives/capture"}) {
      ASSERT_GE(H5Ldelete(file.get(), path, H5P_DEFAULT), 0) << path;
    }
    ASSERT_GE(H5TBdelete_field(file.get(), "/job/processes", "gpu_mode"), 0);
    ASSERT_GE(H5Adelete(file.get(), "window"), 0);
  }
  const auto reader = RunFileReader::open(path());
  ASSERT_TRUE(reader) << reader.error().message;
  const auto run = reader->read_all();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(run->kernels.start_ns.empty());
  EXPECT_EQ(run->kernel_process_offset, (std::vector<std::uint64_t>{0, 0, 0, 0}));
  EXPECT_EQ(run->nccl.timing, std::vector<Timing>(5, Timing::kMissing));
  EXPECT_EQ(run->nccl.gpu_dur_ns.at(0), 30'000) << "what is there is read";
  EXPECT_EQ(run->processes.gpu_mode, std::vector<GpuMode>(3, GpuMode::kMissing));
  EXPECT_EQ(run->processes.cupti_version.at(0), 130001U);
}

// Before there were observers of nodes.
TEST_F(ForeignFile, IsTakenWithoutCountersOfAnOlderMinorVersion) {
  {
    const Handle file = tampered();
    replace_text(file.get(), "schema_version", "1.1.0");
    ASSERT_GE(H5Ldelete(file.get(), "/counters", H5P_DEFAULT), 0);
    ASSERT_GE(H5Ldelete(file.get(), "/job/observers", H5P_DEFAULT), 0);
    ASSERT_GE(H5TBdelete_field(file.get(), "/job/nics", "driver"), 0);
  }
  const auto reader = RunFileReader::open(path());
  ASSERT_TRUE(reader) << reader.error().message;
  const auto run = reader->read_all();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(run->counters.empty());
  EXPECT_TRUE(run->observers.node.empty());
  EXPECT_EQ(run->nics.driver, (std::vector<StringId>{StringId::kEmpty, StringId::kEmpty}));
}

TEST_F(ForeignFile, HasCountersOfDifferentLengths) {
  {
    const Handle file = tampered();
    const Handle dataset{H5Dopen2(file.get(), "/counters/nic/efa/tx_bytes", H5P_DEFAULT), H5Dclose};
    const hsize_t n = 2;
    ASSERT_GE(H5Dset_extent(dataset.get(), &n), 0);
  }
  EXPECT_THAT(refusal(), HasSubstr("/counters/nic/efa/tx_bytes: 2 rows where its table has 3"));
}

TEST_F(ForeignFile, HasCountersOfMorePortsThanThereAre) {
  {
    const Handle file = tampered();
    const Handle dataset{H5Dopen2(file.get(), "/counters/nic/efa/nic_offset", H5P_DEFAULT), H5Dclose};
    const hsize_t n = 2;
    ASSERT_GE(H5Dset_extent(dataset.get(), &n), 0);
  }
  EXPECT_THAT(refusal(), HasSubstr("/counters/nic/efa/nic_offset: 2 values for 2 parts"));
}

TEST_F(ForeignFile, HasADatasetAmongCountersThatIsNone) {
  {
    const Handle file = tampered();
    const hsize_t n = 1;
    const Handle space{H5Screate_simple(1, &n, nullptr), H5Sclose};
    const Handle foreign{H5Dcreate2(file.get(), "/counters/nic/efa/foreign", H5T_IEEE_F32LE, space.get(), H5P_DEFAULT,
                                    H5P_DEFAULT, H5P_DEFAULT),
                         H5Dclose};
    ASSERT_TRUE(foreign);
  }
  EXPECT_EQ(refusal(), "no error");
}

TEST_F(ForeignFile, HasACounterOfImpossibleWidth) {
  {
    const Handle file = tampered();
    const Handle dataset{H5Dopen2(file.get(), "/counters/nic/efa/tx_bytes", H5P_DEFAULT), H5Dclose};
    ASSERT_GE(H5Adelete(dataset.get(), "bits"), 0);
    ASSERT_TRUE(write_attribute(dataset.get(), "bits", std::uint8_t{65}));
  }
  EXPECT_THAT(refusal(), HasSubstr("/counters/nic/efa/tx_bytes: has a width of 65 bits"));
}

TEST_F(ForeignFile, LacksATableOfItsVersion) {
  {
    const Handle file = tampered();
    ASSERT_GE(H5Ldelete(file.get(), "/events/kernels/name", H5P_DEFAULT), 0);
  }
  EXPECT_THAT(refusal(), HasSubstr("/events/kernels/name is missing"));
}

TEST_F(ForeignFile, IsNotComplete) {
  {
    const Handle file = tampered();
    ASSERT_GE(H5Adelete(file.get(), "complete"), 0);
  }
  EXPECT_THAT(refusal(), HasSubstr("not complete"));
}

TEST_F(ForeignFile, LacksADataset) {
  {
    const Handle file = tampered();
    ASSERT_GE(H5Ldelete(file.get(), "/events/nccl/seq", H5P_DEFAULT), 0);
  }
  EXPECT_THAT(refusal(), HasSubstr("/events/nccl/seq is missing"));
}

TEST_F(ForeignFile, HasADatasetOfTheWrongType) {
  {
    const Handle file = tampered();
    ASSERT_GE(H5Ldelete(file.get(), "/events/nccl/seq", H5P_DEFAULT), 0);
    const hsize_t n = 5;
    const Handle space{H5Screate_simple(1, &n, nullptr), H5Sclose};
    const Handle wrong{
        H5Dcreate2(file.get(), "/events/nccl/seq", H5T_IEEE_F32LE, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dclose};
  }
  EXPECT_THAT(refusal(), HasSubstr("/events/nccl/seq has the type f32 instead of u64"));
}

TEST_F(ForeignFile, ClaimsMoreRowsThanItCanHold) {
  {
    const Handle file = tampered();
    const Handle dataset{H5Dopen2(file.get(), "/events/nccl/seq", H5P_DEFAULT), H5Dclose};
    const hsize_t n = hsize_t{1} << 50;
    ASSERT_GE(H5Dset_extent(dataset.get(), &n), 0);
  }
  EXPECT_THAT(refusal(), HasSubstr("more than the file can hold"));
}

TEST_F(ForeignFile, HasColumnsOfDifferentLengths) {
  {
    const Handle file = tampered();
    const Handle dataset{H5Dopen2(file.get(), "/events/nccl/seq", H5P_DEFAULT), H5Dclose};
    const hsize_t n = 4;
    ASSERT_GE(H5Dset_extent(dataset.get(), &n), 0);
  }
  EXPECT_THAT(refusal(), HasSubstr("/events/nccl/seq: 4 rows where its table has 5"));
}

TEST_F(ForeignFile, PointsToAStringThatIsNotThere) {
  {
    const Handle file = tampered();
    const Handle dataset{H5Dopen2(file.get(), "/events/nvtx/name", H5P_DEFAULT), H5Dclose};
    const std::uint32_t names[] = {1, 4000};
    ASSERT_GE(H5Dwrite(dataset.get(), H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, names), 0);
  }
  const std::string n_strings = std::to_string(test::sample_run().strings.size());
  EXPECT_THAT(refusal(), HasSubstr("/events/nvtx/name: row 1 points to index of /strings/value 4000 of " + n_strings));
}

TEST_F(ForeignFile, HasOffsetsThatDescend) {
  {
    const Handle file = tampered();
    const Handle dataset{H5Dopen2(file.get(), "/events/nccl/process_offset", H5P_DEFAULT), H5Dclose};
    const std::uint64_t offsets[] = {0, 4, 2, 5};
    ASSERT_GE(H5Dwrite(dataset.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, offsets), 0);
  }
  EXPECT_THAT(refusal(), HasSubstr("/events/nccl/process_offset: does not ascend"));
}

TEST_F(ForeignFile, HasDamagedBytesInAChunk) {
  write_sample();
  haddr_t address = 0;
  hsize_t bytes = 0;
  {
    const Handle file{H5Fopen(path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
    const Handle dataset{H5Dopen2(file.get(), "/events/nccl/start_ns", H5P_DEFAULT), H5Dclose};
    unsigned mask = 0;
    const hsize_t at = 0;
    ASSERT_GE(H5Dget_chunk_info_by_coord(dataset.get(), &at, &mask, &address, &bytes), 0);
  }
  std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(address));
  file << std::string(bytes, '\xAA');
  file.close();
  EXPECT_THAT(refusal(), HasSubstr("/events/nccl/start_ns: the chunk of row 0: is not a whole zlib stream"));
}

// A reader that believes what it reads would crash here sooner or later.
TEST_F(ForeignFile, IsRefusedOrReadWhateverByteIsWrong) {
  write_sample();
  std::ifstream in(path(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  for (std::size_t at = 0; at < whole.size(); at += whole.size() / 300) {
    std::string bad = whole;
    bad[at] = static_cast<char>(~bad[at]);
    write_bytes(bad);
    auto reader = RunFileReader::open(path());
    if (reader) (void)reader->read_all();
  }
}

}  // namespace
}  // namespace jaxprof::runfile
