#include "tests/unit/synthetic/truth_claim.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "tests/synthetic/scenario.h"

namespace jaxprof::test {
namespace {

Result<FiledTraining> make(const std::string& scenario, std::uint64_t seed) {
  return synthetic::scenario_plan(scenario, seed).and_then(merge_training).and_then(FiledTraining::write);
}

void add(const Score& part, Score* score) {
  score->right += part.right;
  score->total += part.total;
  if (score->fault.empty()) score->fault = part.fault;
}

std::vector<Score> judge(const std::string& scenario, std::uint64_t first_seed, std::uint64_t last_seed,
                         std::uint64_t stride, const std::vector<Claim>& claims) {
  std::vector<Score> scores(claims.size());
  for (std::uint64_t seed = first_seed; seed <= last_seed; seed += stride) {
    const auto run = make(scenario, seed);
    for (std::size_t i = 0; i < claims.size(); ++i) {
      Score score = run ? claims[i].judge(*run) : Score::of_run(run.error().message);
      if (!score.fault.empty()) score.fault.insert(0, "seed " + std::to_string(seed) + ": ");
      add(score, &scores[i]);
    }
  }
  return scores;
}

// A score a line; what is wrong comes last.
void write(const std::vector<Score>& scores, const std::string& path) {
  std::ofstream file(path);
  for (const Score& score : scores) {
    std::string fault = score.fault;
    std::replace(fault.begin(), fault.end(), '\n', ' ');
    file << score.right << ' ' << score.total << ' ' << fault << '\n';
  }
}

void read(const std::string& path, std::vector<Score>* scores) {
  std::ifstream file(path);
  for (Score& score : *scores) {
    Score part;
    if (!(file >> part.right >> part.total)) part = {0, 1, "a child died"};
    file.get();
    std::getline(file, part.fault);
    add(part, &score);
  }
}

}  // namespace

std::vector<Score> judge_seeds(const std::string& scenario, std::uint64_t n_seeds, const std::vector<Claim>& claims) {
  const TempFolder folder;
  const std::uint64_t n_children = std::max(1U, std::thread::hardware_concurrency());
  std::vector<pid_t> children;
  const auto path_of = [&folder](std::uint64_t child) { return folder.path() + "/" + std::to_string(child); };
  for (std::uint64_t child = 0; child < n_children; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      write(judge(scenario, 1 + child, n_seeds, n_children, claims), path_of(child));
      _exit(0);
    }
    children.push_back(pid);
  }
  std::vector<Score> scores(claims.size());
  for (std::uint64_t child = 0; child < n_children; ++child) {
    waitpid(children[child], nullptr, 0);
    read(path_of(child), &scores);
  }
  return scores;
}

}  // namespace jaxprof::test
