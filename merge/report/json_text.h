// Tables and figures as JSON that may stand in a script element of a page: no text of a run, whatever bytes it holds,
// ends the element, begins another or is no UTF-8.
#pragma once

#include <string>
#include <vector>

#include "merge/report/answers.h"
#include "merge/report/figure.h"

namespace jaxprof::report {

// What the page knows of the run beside its tables.
struct PageFacts {
  std::string tool;      // "jaxprof 0.1.0"
  std::string run_file;  // its name, without folders
  std::string run_id;
  std::string command;
  std::int64_t epoch_unix_ns = 0;  // zero of the run's axis
};

// {"facts", "studies", "figures"}. Numbers are as in `jaxprof-study NAME --format json`; of a study's table at most
// `most_rows` rows, with "n_rows" the number of all.
std::string page_json(const PageFacts& facts, const std::vector<Answer>& answers, const std::vector<Figure>& figures,
                      std::size_t most_rows);

}  // namespace jaxprof::report
