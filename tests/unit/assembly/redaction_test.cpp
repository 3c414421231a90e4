// What --redact takes out of texts, and that it is gone from the whole file.
#include "merge/assembly/redaction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "merge/runfile/run_file_writer.h"
#include "tests/unit/assembly/assembled_folder.h"

namespace jaxprof::assembly {
namespace {

using test::findings;
using test::Recording;
using testing::ElementsAre;

Redaction sample() {
  Redaction redaction;
  redaction.replace("gpu-17", "node0");
  redaction.replace("gpu-17.site.org", "node0");
  redaction.replace("gpu-1", "node1");
  redaction.hide_folder("prof/alice/");
  redaction.hide_folder("/home/al ice");
  return redaction;
}

TEST(Redaction, ReplacesHostsAsWholeWords) {
  const Redaction redaction = sample();
  EXPECT_EQ(redaction.text("rank 3 on gpu-17: gone"), "rank 3 on node0: gone");
  EXPECT_EQ(redaction.text("gpu-17.site.org and gpu-1."), "node0 and node1.");
  EXPECT_EQ(redaction.text("rank3.gpu-17.4711.jxspool"), "rank3.node0.4711.jxspool");
  EXPECT_EQ(redaction.text("x_gpu-1_y"), "x_node1_y");
  EXPECT_EQ(redaction.text("gpu-171 gpu-1x xgpu-1"), "gpu-171 gpu-1x xgpu-1");
  EXPECT_EQ(redaction.text(""), "");
}

TEST(Redaction, HidesPathsButForWhatIsAFileByItsName) {
  const Redaction redaction = sample();
  EXPECT_EQ(redaction.text("cannot open /scratch/bob/rank3.jxspool: cut"), "cannot open …/rank3.jxspool: cut");
  EXPECT_EQ(redaction.text("(/home/bob) \"/data/bob/x\" /a"), "(…) \"…\" …");
  EXPECT_EQ(redaction.text("/home/al ice/x/rank3.gpu-1.jxspool.part"), "…/rank3.node1.jxspool.part");
  EXPECT_EQ(redaction.text("in /home/al ice"), "in …");
  EXPECT_EQ(redaction.text("/home/erika.sommer /home/a.shaw/b.py:12 /opt/x/liby.so.1"), "… …/b.py:12 …/liby.so.1");
  EXPECT_EQ(redaction.text("prof/alice/.run-7.0.0/task.0.start.json, prof"), "…/task.0.start.json, prof");
  EXPECT_EQ(redaction.text("/sys/class/infiniband/mlx5_0, /dev/shm/bob/y"), "/sys/class/infiniband/mlx5_0, …");
  EXPECT_EQ(redaction.text("jit(f)/dot and/or 3 / 4 Gb/s //"), "jit(f)/dot and/or 3 / 4 Gb/s //");
}

TEST(Redaction, HidesAddressesAndValues) {
  const Redaction redaction = sample();
  EXPECT_EQ(redaction.text("29500@10.0.0.12 10.1.2.3:80"), "29500@address address:80");
  EXPECT_EQ(redaction.text("version 1.2.3, 1.2.3.4.5, 300.1.1.1"), "version 1.2.3, 1.2.3.4.5, 300.1.1.1");
  EXPECT_EQ(redaction.text("NCCL_PROFILER_PLUGIN=a b (nsys) is set"), "NCCL_PROFILER_PLUGIN=… (nsys) is set");
  EXPECT_EQ(redaction.text("RANK=x of WORLD_SIZE=y: it"), "RANK=… of WORLD_SIZE=…: it");
  EXPECT_EQ(redaction.text("step N=4 --lr=0.1 A=1"), "step N=4 --lr=0.1 A=1");
}

TEST(Redaction, LeavesAloneWhatHasPassedOnce) {
  const Redaction redaction = sample();
  for (const char* text : {"rank 3 on gpu-17: /home/bob/x is cut", "A_B=c d; /x/y.so", "gpu-1 10.0.0.1"}) {
    const std::string once = redaction.text(text);
    EXPECT_EQ(redaction.text(once), once);
  }
}

TEST(Redaction, NamesProgramsWithoutTheirFolder) {
  EXPECT_EQ(program_of("/home/al ice/bin/python3"), "python3");
  EXPECT_EQ(program_of("python"), "python");
}

// Two hosts, the second named as the first will be; everything that must go stands somewhere.
class RedactedRun : public testing::Test {
 protected:
  RedactedRun() {
    for (std::int64_t rank = 0; rank < 2; ++rank) {
      const std::string host = rank == 0 ? "dachs-4711.zoo.example" : "node0";
      Recording recording(rank, 3, host);
      recording.write(run_.path(), "rank" + std::to_string(rank) + "." + host + ".77.jxspool");
      TaskStart start = start_of(rank, host);
      run_.add(start);
      run_.add(test::task_end(rank));
    }
    TaskStart lost = start_of(2, "dachs-4711.zoo.example");
    lost.is_profiled = false;
    lost.reason = "CUDA_INJECTION64_PATH=hookvalue is set; see /home/erika/notes on dachs-4711, 10.20.30.40";
    run_.add(lost);
  }

  static TaskStart start_of(std::int64_t rank, const std::string& host) {
    TaskStart start = test::task_start(rank, 3, host);
    start.command = {"/home/erika/bin/python", "--passphrase", "sesame42"};
    start.output = "/home/erika/prof/rank%r";
    start.spool_directory = "/local/erika/jaxprof.1000.7.0.0";
    start.notes = {"/local/erika is in memory (tmpfs)"};
    start.environment = {{"NCCL_ALGO", rank == 1 ? "geheimwert" : "anderwert"}};
    start.has_environment = true;
    return start;
  }

  AssembledRun assemble(bool is_redacted) const {
    auto directory = rundir::read_run_directory(run_.path());
    directory->runs.at(0).is_to_be_redacted = is_redacted;
    return assemble_run(std::move(directory->runs.at(0)));
  }
  // The bytes of the run file.
  std::string file_of(const AssembledRun& assembled) const {
    const std::string path = run_.file("run.h5");
    runfile::WriteOptions options;
    options.may_replace = true;
    EXPECT_TRUE(runfile::write_run_file(assembled.tables, path, options));
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  test::RunFolder run_;
};

TEST_F(RedactedRun, NothingThatWasTakenOutIsInTheFile) {
  const std::string whole = file_of(assemble(false));
  const std::string redacted = file_of(assemble(true));
  for (const char* secret : {"dachs", "zoo.example", "erika", "sesame42", "passphrase", "geheimwert", "anderwert",
                             "hookvalue", "10.20.30.40", "/local", "/home"}) {
    EXPECT_NE(whole.find(secret), std::string::npos) << secret << ": or the test shows nothing";
    EXPECT_EQ(redacted.find(secret), std::string::npos) << secret;
  }
  EXPECT_EQ(redacted.find(run_.path()), std::string::npos);
}

TEST_F(RedactedRun, WhatIsLeftStillFitsTogether) {
  const runfile::RunTables run = assemble(true).tables;
  const auto text = [&run](runfile::StringId id) { return std::string(run.strings.text(id)); };
  EXPECT_EQ(run.attributes.redacted, 1);
  EXPECT_EQ(run.attributes.cmdline, "python");
  EXPECT_EQ(run.attributes.output_template, "…/rank%r");
  // node0 is a host's name here
  EXPECT_THAT((std::vector{text(run.nodes.host[0]), text(run.nodes.host[1])}), ElementsAre("machine0", "machine1"));
  EXPECT_THAT((std::vector{text(run.tasks.host[0]), text(run.tasks.host[1]), text(run.tasks.host[2])}),
              ElementsAre("machine0", "machine1", "machine0"));
  EXPECT_THAT((std::vector{text(run.processes.spool[0]), text(run.processes.spool[1])}),
              ElementsAre("rank0.machine0.77.jxspool", "rank1.machine1.77.jxspool"));
  EXPECT_THAT(findings(run, "rank.unprofiled"),
              ElementsAre("rank 2 on machine0: CUDA_INJECTION64_PATH=… is set; see … on machine0, address"));
  // who differs is seen without the values
  EXPECT_THAT(run.env.n_tasks, ElementsAre(2u, 1u));
  EXPECT_THAT(run.env.is_set, ElementsAre(1, 1));
  EXPECT_THAT(run.env.value, ElementsAre(runfile::StringId::kEmpty, runfile::StringId::kEmpty));
  EXPECT_EQ(run.nodes.boot_id[0].view(), "");
}

TEST_F(RedactedRun, WithoutTheOptionNothingChanges) {
  const runfile::RunTables run = assemble(false).tables;
  EXPECT_EQ(run.attributes.redacted, 0);
  EXPECT_EQ(run.attributes.cmdline, "/home/erika/bin/python --passphrase sesame42");
  EXPECT_EQ(run.strings.text(run.nodes.host[0]), "dachs-4711.zoo.example");
}

}  // namespace
}  // namespace jaxprof::assembly
