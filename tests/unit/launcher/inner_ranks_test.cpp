#include "launcher/inner_ranks.h"

#include <gtest/gtest.h>

namespace jaxprof::launcher {
namespace {

using Command = std::vector<std::string>;

TEST(StartsRanksOfItsOwn, KnowsLaunchersByFileNameAndModule) {
  for (const Command& command :
       std::vector<Command>{{"torchrun", "x.py"},
                            {"/opt/venv/bin/accelerate", "launch", "x.py"},
                            {"deepspeed", "--num_gpus", "4", "x.py"},
                            {"mpirun", "-n", "4", "x"},
                            {"mpiexec", "x"},
                            {"/usr/bin/mpiexec.hydra", "x"},
                            {"prterun", "x"},
                            {"srun", "x"},
                            {"python", "-m", "torch.distributed.run", "x.py"},
                            {"python3.11", "-u", "-m", "torch.distributed.launch", "x.py"},
                            {"/usr/bin/python3", "-X", "dev", "-maccelerate.commands.launch"}}) {
    EXPECT_TRUE(starts_ranks_of_its_own(command)) << command[0];
  }
}

TEST(StartsRanksOfItsOwn, TakesEverythingElseForTheRank) {
  for (const Command& command : std::vector<Command>{{},
                                                     {"python", "train.py"},
                                                     {"python", "train.py", "-m", "torch.distributed.run"},
                                                     {"python", "-c", "pass", "-m", "torch.distributed.run"},
                                                     {"python", "-m", "torch.distributed.elastic"},
                                                     {"python", "-m"},
                                                     {"./my-mpirun", "x"},
                                                     {"mpirun.sh", "x"}}) {
    EXPECT_FALSE(starts_ranks_of_its_own(command));
  }
}

}  // namespace
}  // namespace jaxprof::launcher
