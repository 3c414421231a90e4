#include "agent/cupti/subscriber.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/contract/trace_kinds.h"
#include "agent/cupti/kinds.h"

namespace jaxprof::cupti {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A CUPTI of a few functions, which answers as told and notes what it was asked.
struct Answers {
  abi::Result shared = abi::kSuccess;
  abi::Result alone = abi::kSuccess;
  abi::Result shared_clock = abi::kSuccess;
  std::string holder;
  abi::Kind refused_kind{};
  abi::Result refusal = abi::kSuccess;
  std::vector<std::string> asked;
  std::vector<int> enabled;
  std::vector<int> disabled;
  int api_calls = 0;
};
Answers* answers = nullptr;
int place = 0;

abi::Result subscribe_named(abi::SubscriberHandle* handle, abi::Callback, void*, abi::SubscriberParams* params) {
  const bool is_shared = params->struct_bytes > abi::kOldSubscriberParamsBytes && params->allows_others != 0;
  answers->asked.push_back((is_shared ? "shared " : "alone ") + std::to_string(params->struct_bytes));
  const abi::Result result = is_shared ? answers->shared : answers->alone;
  if (result == abi::kSuccess) *handle = &place;
  if (result == abi::kMultipleSubscribers) answers->holder.copy(params->holder, params->holder_bytes);
  return result;
}
abi::Result subscribe(abi::SubscriberHandle* handle, abi::Callback, void*) {
  answers->asked.emplace_back("first interface");
  if (answers->alone == abi::kSuccess) *handle = &place;
  return answers->alone;
}
abi::Result unsubscribe(abi::SubscriberHandle) {
  answers->asked.emplace_back("unsubscribe");
  return abi::kSuccess;
}
abi::Result enable(abi::Kind kind) {
  if (kind == answers->refused_kind) return answers->refusal;
  answers->enabled.push_back(kind);
  return abi::kSuccess;
}
abi::Result disable(abi::Kind kind) {
  answers->disabled.push_back(kind);
  return abi::kSuccess;
}

class SubscriberTest : public testing::Test {
 protected:
  explicit SubscriberTest(std::uint32_t version = 130500) {
    answers = &answers_;
    library_.version = version;
    library_.capability = capability_of(version);
    Functions& f = library_.functions;
    f.subscribe = subscribe;
    f.subscribe_named = subscribe_named;
    f.unsubscribe = unsubscribe;
    f.register_callbacks = [](abi::RequestBuffer, abi::CompleteBuffer) { return abi::kSuccess; };
    f.register_callbacks_shared = [](abi::SubscriberHandle, abi::RequestBufferShared, abi::CompleteBufferShared) {
      return abi::kSuccess;
    };
    f.set_thread_id_type = [](abi::ThreadIdType) { return abi::kSuccess; };
    f.set_attribute = [](abi::Attribute, std::size_t*, void*) { return abi::kSuccess; };
    f.set_attribute_shared = [](abi::SubscriberHandle, abi::Attribute, std::size_t*, void*) { return abi::kSuccess; };
    f.get_timestamp_shared = [](abi::SubscriberHandle, std::uint64_t* ns) {
      *ns = 1;
      return answers->shared_clock;
    };
    f.enable = enable;
    f.disable = disable;
    f.enable_shared = [](abi::SubscriberHandle, abi::Kind kind, void*) { return enable(kind); };
    f.disable_shared = [](abi::SubscriberHandle, abi::Kind kind, void*) { return disable(kind); };
    f.get_next_record_shared = [](abi::SubscriberHandle, std::uint8_t*, std::size_t, void**) { return abi::kSuccess; };
    f.enable_driver_api = f.enable_runtime_api = [](abi::CallbackId, std::uint8_t) {
      ++answers->api_calls;
      return abi::kSuccess;
    };
    f.enable_driver_api_shared =
        f.enable_runtime_api_shared = [](abi::SubscriberHandle, abi::CallbackId, std::uint8_t) {
          ++answers->api_calls;
          return abi::kSuccess;
        };
  }

  void set_version(std::uint32_t version) {
    library_.version = version;
    library_.capability = capability_of(version);
  }
  bool subscribe_now() {
    TextBuffer why(why_, sizeof why_);
    subscriber_.use(library_);
    return subscriber_.subscribe(nullptr, BufferCallbacks{}, &why);
  }
  std::string enable_kinds(std::uint32_t trace, bool* is_enabled) {
    char text[256];
    TextBuffer note(text, sizeof text);
    kinds_.choose(trace);
    *is_enabled = kinds_.enable(&subscriber_, &note);
    return text;
  }

  Answers answers_;
  Library library_;
  Subscriber subscriber_;
  Kinds kinds_;
  char why_[256] = "";
};

TEST_F(SubscriberTest, SharesCuptiWhereItCan) {
  ASSERT_TRUE(subscribe_now());
  EXPECT_TRUE(subscriber_.is_shared());
  EXPECT_THAT(answers_.asked, ElementsAre("shared 40"));
}

TEST_F(SubscriberTest, TakesThePlaceAloneWhereTheDriverDoesNotShare) {
  for (const abi::Result refusal : {abi::kMultipleSubscribers, abi::kNotSupported, abi::kUnknown}) {
    answers_.asked.clear();
    answers_.shared = refusal;
    ASSERT_TRUE(subscribe_now());
    EXPECT_FALSE(subscriber_.is_shared());
    EXPECT_THAT(answers_.asked, ElementsAre("shared 40", "alone 40"));
  }
}

TEST_F(SubscriberTest, TakesThePlaceAloneWhereTheSharedClockIsRefused) {
  answers_.shared_clock = abi::kNotSupported;
  ASSERT_TRUE(subscribe_now());
  EXPECT_FALSE(subscriber_.is_shared());
  EXPECT_THAT(answers_.asked, ElementsAre("shared 40", "unsubscribe", "alone 40"));
}

TEST_F(SubscriberTest, DoesNotShareWithThePreviewOf132NorWithoutAllFunctions) {
  set_version(130200);
  ASSERT_TRUE(subscribe_now());
  EXPECT_FALSE(subscriber_.is_shared());
  set_version(130300);
  library_.functions.get_timestamp_shared = nullptr;
  ASSERT_TRUE(subscribe_now());
  EXPECT_FALSE(subscriber_.is_shared());
}

TEST_F(SubscriberTest, GivesOlderReleasesTheParametersThatTheyKnow) {
  set_version(130001);
  ASSERT_TRUE(subscribe_now());
  EXPECT_THAT(answers_.asked, ElementsAre("alone 32"));
  answers_.asked.clear();
  set_version(24);
  library_.functions.subscribe_named = nullptr;
  ASSERT_TRUE(subscribe_now());
  EXPECT_THAT(answers_.asked, ElementsAre("first interface"));
}

TEST_F(SubscriberTest, NamesWhoHasThePlace) {
  answers_.shared = answers_.alone = abi::kMultipleSubscribers;
  answers_.holder = "CUPTI for nsys";
  EXPECT_FALSE(subscribe_now());
  EXPECT_FALSE(subscriber_.is_subscribed());
  EXPECT_STREQ(why_,
               "CUPTI's one place is taken by CUPTI for nsys; to be beside it both need CUPTI 13.3 and driver 610");
}

TEST_F(SubscriberTest, SaysWhoMayHaveThePlaceWhereCuptiDoesNotTell) {
  set_version(24);
  library_.functions.subscribe_named = nullptr;
  answers_.alone = abi::kMultipleSubscribers;
  EXPECT_FALSE(subscribe_now());
  EXPECT_THAT(why_, HasSubstr("another profiler (nsys, ncu, a debugger, the job's own)"));
}

TEST_F(SubscriberTest, SaysThatThereIsNoDriver) {
  answers_.shared = answers_.alone = abi::kUnknown;
  EXPECT_FALSE(subscribe_now());
  EXPECT_STREQ(why_, "CUPTI refuses to be subscribed to: no usable CUDA driver (CUPTI 999)");
}

TEST_F(SubscriberTest, EnablesKernelsCopiesAndCallsOneByOne) {
  ASSERT_TRUE(subscribe_now());
  bool is_enabled = false;
  EXPECT_EQ(enable_kinds(kTraceCuda | kTraceNccl, &is_enabled), "");
  EXPECT_TRUE(is_enabled);
  for (const int kind : {10, 1, 2, 17, 8, 9, 37, 39}) EXPECT_THAT(answers_.enabled, Contains(kind));
  for (const int kind : {3, 4, 5, 36, 38, 51}) EXPECT_THAT(answers_.enabled, Not(Contains(kind)));
  EXPECT_GT(answers_.api_calls, 200);
  kinds_.disable(&subscriber_);
  EXPECT_THAT(answers_.disabled, testing::UnorderedElementsAreArray(answers_.enabled));
}

TEST_F(SubscriberTest, EnablesTheKindsOfCallsWhereTheyCannotBeChosen) {
  set_version(22);
  ASSERT_TRUE(subscribe_now());
  bool is_enabled = false;
  enable_kinds(kTraceCuda, &is_enabled);
  EXPECT_THAT(answers_.enabled, Contains(4));
  EXPECT_THAT(answers_.enabled, Contains(5));
  EXPECT_EQ(answers_.api_calls, 0);
}

TEST_F(SubscriberTest, EnablesWhatIsNamedBesides) {
  ASSERT_TRUE(subscribe_now());
  bool is_enabled = false;
  enable_kinds(kTraceCuda | kTraceSync | kTraceEvents | kTraceGraph, &is_enabled);
  for (const int kind : {38, 36, 51}) EXPECT_THAT(answers_.enabled, Contains(kind));
  EXPECT_THAT(answers_.enabled, Not(Contains(39))) << "no NCCL, no correlation with it";
}

TEST_F(SubscriberTest, GoesOnWithoutAKindThatIsRefused) {
  ASSERT_TRUE(subscribe_now());
  answers_.refused_kind = abi::kMemcpy;
  answers_.refusal = abi::kMigDevice;
  bool is_enabled = false;
  EXPECT_EQ(enable_kinds(kTraceCuda, &is_enabled), "no copies: not supported on MIG instances (CUPTI 43)");
  EXPECT_TRUE(is_enabled);
}

TEST_F(SubscriberTest, GivesUpWithoutKernelsAndEnablesNothing) {
  ASSERT_TRUE(subscribe_now());
  answers_.refused_kind = abi::kConcurrentKernel;
  answers_.refusal = abi::kInsufficientPrivileges;
  bool is_enabled = true;
  EXPECT_THAT(enable_kinds(kTraceCuda, &is_enabled), HasSubstr("no kernels: not permitted: needs the driver option"));
  EXPECT_FALSE(is_enabled);
  for (const int kind : answers_.enabled) EXPECT_THAT(answers_.disabled, Contains(kind));
}

TEST_F(SubscriberTest, SaysWhichVersionHardwareEventsNeed) {
  set_version(130300);
  ASSERT_TRUE(subscribe_now());
  char text[256];
  TextBuffer note(text, sizeof text);
  kinds_.choose(kTraceCuda | kTraceHardware);
  kinds_.prepare(&subscriber_, library_, &note);
  EXPECT_STREQ(text, "hardware events need CUPTI 13.4.1");
}

}  // namespace
}  // namespace jaxprof::cupti
