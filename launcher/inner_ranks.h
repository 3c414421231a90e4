// `srun --ntasks-per-node=1 jaxprof-exec -- torchrun …`: the task is a launcher, and its children are the ranks. What
// the wrapper knows of ranks is then worthless for selection and names, so it has to notice.
#pragma once

#include <string>
#include <vector>

namespace jaxprof::launcher {

// True if `command` is one of the launchers that start ranks of their own: torchrun, accelerate and deepspeed by the
// file name, Python running the module of one, or a launcher of launcher_words.h.
bool starts_ranks_of_its_own(const std::vector<std::string>& command);

}  // namespace jaxprof::launcher
