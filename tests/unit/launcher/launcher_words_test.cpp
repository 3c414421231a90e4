#include "launcher/launcher_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace jaxprof::launcher {
namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// The word at which the program begins; "" if it cannot be told.
std::string program_of(const std::string& line) {
  const auto words = words_of(line);
  const auto at = find_launched_program(words);
  return at ? words[*at] : "";
}

TEST(LaunchedProgram, IsBehindTheLaunchersOptions) {
  for (const char* line :
       {"mpirun PROGRAM -n 4", "mpirun -n 4 -x A=b --mca btl self,tcp --map-by ppr:4:node --bind-to none PROGRAM -x y",
        "mpirun -np 4 -H a,b --allow-run-as-root -- PROGRAM", "mpiexec.hydra -ppn 2 -genv A b -genvall PROGRAM",
        "mpiexec --host=a PROGRAM", "srun -N2 --ntasks-per-node=8 -l --mpi=pmix PROGRAM --mpi=none",
        "srun -n 4 --ntasks-per-node 2 -lu PROGRAM", "srun -K1 --kill-on-bad-exit=0 -W 5 --exclusive PROGRAM",
        "/usr/bin/srun --pty PROGRAM", "aprun -n 4 -N 2 PROGRAM", "jsrun -n 4 -a1 PROGRAM",
        "flux run -n4 --nodes=2 -o cpu-affinity=off PROGRAM"}) {
    EXPECT_EQ(program_of(line), "PROGRAM") << line;
  }
}

TEST(LaunchedProgram, IsNotGuessed) {
  for (const char* line : {"mpirun --some-new-option 4 PROGRAM", "mpirun -n 1 PROGRAM : -n 3 OTHER", "srun", "srun -N2",
                           "srun -y PROGRAM", "mpirun -n", "flux submit PROGRAM", "python PROGRAM"}) {
    EXPECT_EQ(program_of(line), "") << line;
  }
}

TEST(AdviceOnOrder, GivesThePersonsOwnWordsInTheRightOrder) {
  EXPECT_EQ(advise_on_order({"mpirun", "-n", "4", "./train", "--name", "a b"}, {"-o", "prof/rank%r"}),
            "mpirun stands behind jaxprof-exec: only ranks that it starts on this node are profiled; write instead: "
            "mpirun -n 4 jaxprof-exec -o prof/rank%r -- ./train --name 'a b'");
  EXPECT_EQ(advise_on_order({"srun", "-N2", "./train"}, {}),
            "srun stands behind jaxprof-exec: nothing that it starts is profiled; write instead: "
            "srun -N2 jaxprof-exec -- ./train");
}

TEST(AdviceOnOrder, LeavesOutWhatItCannotTellApart) {
  EXPECT_EQ(advise_on_order({"srun", "--brand-new", "x", "./train"}, {"-f"}),
            "srun stands behind jaxprof-exec: nothing that it starts is profiled; write instead: "
            "srun [its options] jaxprof-exec -f -- [program]");
}

TEST(AdviceOnOrder, IsShort) {
  std::vector<std::string> command = {"mpirun", "./train"};
  command.resize(500, "word");
  EXPECT_LE(advise_on_order(command, {}).size(), 600u);
}

TEST(AdviceOnOrder, IsNothingForOtherCommands) {
  EXPECT_EQ(advise_on_order({"python", "train.py"}, {}), "");
  EXPECT_EQ(advise_on_order({"torchrun", "train.py"}, {}), "");
  EXPECT_EQ(advise_on_order({"./mpirun.sh", "x"}, {}), "");
}

}  // namespace
}  // namespace jaxprof::launcher
