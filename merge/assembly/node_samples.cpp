#include "merge/assembly/node_samples.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace jaxprof::assembly {
namespace {

using Subject = std::pair<std::uint32_t, std::uint32_t>;  // kind and number, as streams have them

// What makes a port or GPU the same one in another observer's spool: where it sits and what it says it is. Its name may
// change, and counts only where there is nothing else.
std::string identity_of(const rundir::NodePort& port) {
  const std::string place = port.pci + '\n' + port.guid;
  return (place == "\n" ? port.name : place) + '\n' + std::to_string(port.state.port);
}
std::string identity_of(const rundir::NodeGpu& gpu) {
  return !gpu.uuid.empty() ? gpu.uuid : gpu.pci + '\n' + std::to_string(gpu.state.gpu);
}

std::map<Subject, SamplePart> count_rows(const SourceObserver& observer, std::size_t position,
                                         rundir::SampleLosses* losses) {
  std::map<Subject, SamplePart> parts;
  *losses = observer.trace.for_each_row([&](const rundir::NodeStream& stream, const spool::SampleRow& row) {
    SamplePart& part = parts[{stream.state.subject_kind, stream.state.subject}];
    if (part.rows == 0) part = {position, stream.state.subject, 0, row.stamp, row.stamp};
    ++part.rows;
    part.first_stamp = std::min(part.first_stamp, row.stamp);
    part.last_stamp = std::max(part.last_stamp, row.stamp);
  });
  return parts;
}

// Subjects of one kind, filled observer by observer.
class Subjects {
 public:
  explicit Subjects(spool::SampleSubject kind) : kind_(static_cast<std::uint32_t>(kind)) {}

  template <typename Found>
  void add(std::uint32_t node, std::size_t observer, const std::map<std::uint32_t, Found>& found,
           const std::map<Subject, SamplePart>& rows) {
    std::set<std::string> seen;
    for (const auto& [number, subject] : found) {
      std::string identity = identity_of(subject);
      while (!seen.insert(identity).second) identity += '\n';  // two that say that they are the same
      const auto [at, is_new] = positions_.try_emplace({node, identity}, all_.size());
      if (is_new) all_.push_back({node, {}, {}});
      const auto part = rows.find({kind_, number});
      all_[at->second].parts.push_back(part != rows.end() ? part->second : SamplePart{observer, number, 0, 0, 0});
    }
  }
  std::vector<SampledSubject> finish() {
    for (SampledSubject& subject : all_) leave_out_overlaps(&subject);
    return std::move(all_);
  }

 private:
  std::uint32_t kind_;
  std::vector<SampledSubject> all_;
  std::map<std::pair<std::uint32_t, std::string>, std::size_t> positions_;
};

}  // namespace

std::uint64_t SampledSubject::rows() const {
  std::uint64_t sum = 0;
  for (const SamplePart& part : parts) sum += part.rows;
  return sum;
}

void leave_out_overlaps(SampledSubject* subject) {
  std::vector<SamplePart> parts = std::exchange(subject->parts, {});
  std::stable_sort(parts.begin(), parts.end(),
                   [](const SamplePart& a, const SamplePart& b) { return a.first_stamp < b.first_stamp; });
  const auto length = [](const SamplePart& part) { return std::tuple(part.last_stamp - part.first_stamp, part.rows); };
  for (const SamplePart& part : parts) {
    std::vector<SamplePart>& kept = subject->parts;
    const bool overlaps =
        part.rows > 0 && !kept.empty() && kept.back().rows > 0 && part.first_stamp <= kept.back().last_stamp;
    if (!overlaps) {
      kept.push_back(part);
    } else if (length(kept.back()) < length(part)) {
      subject->left_out.push_back(std::exchange(kept.back(), part));
    } else {
      subject->left_out.push_back(part);
    }
  }
}

NodeSamples survey_samples(const RunSources& sources) {
  NodeSamples samples;
  Subjects nics(spool::SampleSubject::kNic);
  Subjects gpus(spool::SampleSubject::kGpu);
  for (std::size_t i = 0; i < sources.observers.size(); ++i) {
    const SourceObserver& observer = sources.observers[i];
    samples.losses.emplace_back();
    std::map<Subject, SamplePart> rows;
    if (observer.clock.is_valid()) rows = count_rows(observer, i, &samples.losses.back());
    nics.add(observer.node, i, observer.trace.ports(), rows);
    gpus.add(observer.node, i, observer.trace.gpus(), rows);
  }
  samples.nics = nics.finish();
  samples.gpus = gpus.finish();
  return samples;
}

}  // namespace jaxprof::assembly
