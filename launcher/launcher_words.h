// `jaxprof-exec -- mpirun -n 4 ./train` works, and is hardly ever what was meant: the wrapper sees only the node it is
// on, and nothing at all of what an srun starts. A person who wrote it gets one line with the right order of the very
// same words. To tell mpirun's words from the program's, this file knows which of a launcher's options take a value;
// where it meets one that it does not know, it gives the order without the words.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace jaxprof::launcher {

// True if `command` is a launcher of ranks on several nodes: mpirun, mpiexec (also as mpiexec.hydra and the like),
// prterun, srun, aprun, jsrun, flux run.
bool starts_ranks_on_nodes(const std::vector<std::string>& command);

// The index in `command`, for which starts_ranks_on_nodes(), of the program that the launcher is to start. None if it
// cannot be told.
std::optional<std::size_t> find_launched_program(const std::vector<std::string>& command);

// What becomes of the ranks of such a command, and how to write it instead, given the words of jaxprof-exec's own
// options; "" for other commands. One line.
std::string advise_on_order(const std::vector<std::string>& command, const std::vector<std::string>& option_words);

}  // namespace jaxprof::launcher
