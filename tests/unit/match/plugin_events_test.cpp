#include "merge/match/plugin_events.h"

#include <gtest/gtest.h>

#include "tests/unit/match/loaded_process.h"

namespace jaxprof::match {
namespace {

using spool::EventKind;
using spool::NcclEvent;
using test::LoadedProcess;
using test::Recording;

constexpr std::uint32_t id(NcclEvent event) {
  return static_cast<std::uint32_t>(event);
}

TEST(PluginEvents, BringsStartAndStopTogether) {
  Recording recording;
  recording.event(1, EventKind::kNcclStart, id(NcclEvent::kCollApi), 10, {5, 1, 0, 0, 256, UINT64_MAX, 0x77, 1});
  recording.event(1, EventKind::kNcclStop, 0, 20, {5});
  const LoadedProcess process(recording);
  const PluginEvent* event = process.plugin().find(5);
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->type, NcclEvent::kCollApi);
  EXPECT_EQ(event->start, 10u);
  EXPECT_EQ(event->stop, 20u);
  EXPECT_EQ(event->count, 256u);
  EXPECT_EQ(event->root, -1);
  EXPECT_EQ(event->stream, 0x77u);
  EXPECT_TRUE(event->is_captured);
}

TEST(PluginEvents, TakesAStopThatTheFileBringsFirst) {
  Recording recording;
  recording.event(2, EventKind::kNcclStop, 0, 20, {5});
  recording.event(1, EventKind::kNcclStart, id(NcclEvent::kColl), 10, {5, 1, 0});
  const LoadedProcess process(recording);
  EXPECT_EQ(process.plugin().find(5)->stop, 20u);
}

TEST(PluginEvents, TheFirstOfTwoStopsCounts) {
  Recording recording;
  recording.event(1, EventKind::kNcclStart, id(NcclEvent::kColl), 10, {5, 1, 0});
  recording.event(1, EventKind::kNcclStop, 0, 20, {5});
  recording.event(1, EventKind::kNcclStop, 0, 30, {5});
  EXPECT_EQ(LoadedProcess(recording).plugin().find(5)->stop, 20u);
}

TEST(PluginEvents, KeepsWhatNeverStoppedAndDropsWhatNeverStarted) {
  Recording recording;
  recording.event(1, EventKind::kNcclStart, id(NcclEvent::kP2p), 10, {5, 1, 3, 0, 64, 2, 9});
  recording.event(1, EventKind::kNcclStop, 0, 20, {6});
  recording.push(1, 0, 0, "not the plugin's", 15);
  const LoadedProcess process(recording);
  ASSERT_EQ(process.plugin().all().size(), 1u);
  const PluginEvent& event = process.plugin().all()[0];
  EXPECT_FALSE(event.has_stop);
  EXPECT_EQ(event.peer, 2);
  EXPECT_EQ(event.plan, 9u);
  EXPECT_EQ(event.parent, 3u);
  EXPECT_EQ(process.plugin().find(6), nullptr);
  EXPECT_EQ(process.plugin().find(0), nullptr);
}

}  // namespace
}  // namespace jaxprof::match
