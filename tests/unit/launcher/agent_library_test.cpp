#include "launcher/agent_library.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/base/temp_folder.h"
#include "tests/unit/contract/environment.h"

namespace jaxprof::launcher {
namespace {

void make_library(const std::string& path) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << "\177ELF\2 and so on";
}

const test::Environment kNothing{};

TEST(FindAgentLibrary, PrefersTheInstalledPlace) {
  test::TempFolder folder;
  std::filesystem::create_directories(folder.file("bin"));
  make_library(folder.file("lib/libjaxprof-agent.so"));
  EXPECT_EQ(*find_agent_library(folder.file("bin/jaxprof-exec"), kNothing.env()),
            folder.file("lib/libjaxprof-agent.so"));
  make_library(folder.file("lib/jaxprof/libjaxprof-agent.so"));
  EXPECT_EQ(*find_agent_library(folder.file("bin/jaxprof-exec"), kNothing.env()),
            folder.file("lib/jaxprof/libjaxprof-agent.so"));
}

TEST(FindAgentLibrary, TheVariableDecides) {
  test::TempFolder folder;
  make_library(folder.file("other.so"));
  const test::Environment environment{"JAXPROF_AGENT=" + folder.file("other.so")};
  EXPECT_EQ(*find_agent_library("/nowhere/bin/x", environment.env()), folder.file("other.so"));
}

TEST(FindAgentLibrary, IsAlwaysAbsolute) {
  test::TempFolder folder;
  make_library(folder.file("a.so"));
  const std::string relative = std::filesystem::relative(folder.file("a.so")).string();
  const test::Environment environment{"JAXPROF_AGENT=" + relative};
  EXPECT_EQ(find_agent_library("/x/y", environment.env())->front(), '/');
}

TEST(FindAgentLibrary, RefusesWhatCannotBeLoaded) {
  test::TempFolder folder;
  const auto missing = find_agent_library(folder.file("bin/jaxprof-exec"), kNothing.env());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNodeNotReady);
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);
  std::ofstream(folder.file("text.so")) << "text";
  const test::Environment environment{"JAXPROF_AGENT=" + folder.file("text.so")};
  EXPECT_EQ(find_agent_library("/x/y", environment.env()).error().message,
            folder.file("text.so") + " is not a 64-bit shared object");
}

}  // namespace
}  // namespace jaxprof::launcher
