#include "agent/base/env.h"

#include <gtest/gtest.h>

namespace jaxprof {
namespace {

TEST(Env, LooksUpWholeNames) {
  const char* entries[] = {"AB=1", "A=2", "EMPTY=", "WITH=a=b", "NOEQUALS", nullptr};
  const Env env(entries);
  EXPECT_STREQ(env.get("A"), "2");
  EXPECT_STREQ(env.get("AB"), "1");
  EXPECT_STREQ(env.get("EMPTY"), "");
  EXPECT_STREQ(env.get("WITH"), "a=b");
  EXPECT_EQ(env.get("NOEQUALS"), nullptr);
  EXPECT_EQ(env.get("ABC"), nullptr);
}

TEST(Env, WithoutEntriesIsTheProcessEnvironment) {
  ASSERT_EQ(setenv("JAXPROF_ENV_TEST", "here", 1), 0);
  EXPECT_STREQ(Env().get("JAXPROF_ENV_TEST"), "here");
  unsetenv("JAXPROF_ENV_TEST");
  EXPECT_EQ(Env().get("JAXPROF_ENV_TEST"), nullptr);
}

}  // namespace
}  // namespace jaxprof
