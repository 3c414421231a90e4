#include "launcher/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jaxprof::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Options parsed(const std::vector<std::string>& arguments, const char* environment = nullptr) {
  auto options = parse_options(arguments, environment);
  if (!options) {
    ADD_FAILURE() << options.error().message;
    return {};
  }
  return *options;
}

std::string refusal(const std::vector<std::string>& arguments, const char* environment = nullptr) {
  auto options = parse_options(arguments, environment);
  if (options) {
    ADD_FAILURE() << "was not refused";
    return {};
  }
  EXPECT_EQ(options.error().code, ErrorCode::kUsage);
  return options.error().message;
}

TEST(ParseOptions, AWordPastedFromNsysIsNamed) {
  EXPECT_THAT(refusal({"profile", "-t", "cuda", "train"}), HasSubstr("leave out the word `profile`"));
  EXPECT_THAT(refusal({"-o", "d/%r", "profile", "--trace=cuda", "train"}), HasSubstr("leave out the word"));
  EXPECT_THAT(parsed({"profile", "x"}).command, ElementsAre("profile", "x"));
  EXPECT_THAT(parsed({"./profile", "-t"}).command, ElementsAre("./profile", "-t"));
}

TEST(ParseOptions, HasDefaults) {
  const Options options = parsed({"true"});
  EXPECT_EQ(options.mode, Mode::kRun);
  EXPECT_EQ(options.output, "jaxprof.%J.%S/rank%r");
  EXPECT_FALSE(options.can_replace_files);
  EXPECT_TRUE(options.selection.selects_all());
  EXPECT_EQ(options.on_conflict, OnConflict::kKeep);
  EXPECT_EQ(options.grace_ns, 10'000'000'000);
  EXPECT_THAT(options.command, ElementsAre("true"));
}

TEST(ParseOptions, GiveTheJobVariables) {
  EXPECT_THAT(parsed({"true"}).environment, IsEmpty());
  EXPECT_THAT(parsed({"-e", "A=1,_b2=x=y", "--env-var=C=", "true"}).environment, ElementsAre("A=1", "_b2=x=y", "C="));
  EXPECT_THAT(parsed({"-eXLA_FLAGS=--a=1,--b=2,B=3", "true"}).environment, ElementsAre("XLA_FLAGS=--a=1,--b=2", "B=3"));
  EXPECT_THAT(parsed({"-e", "B=2", "true"}, "-e A=1").environment, ElementsAre("A=1", "B=2"));
  for (const char* wrong : {"A", "=1", "1A=2", "a-b=1", ",A=1"}) {
    EXPECT_THAT(refusal({"-e", wrong, "true"}), HasSubstr("write NAME=VALUE"));
  }
}

TEST(ParseOptions, SayWhichVariablesAreRecorded) {
  EXPECT_TRUE(parsed({"true"}).records_environment);
  EXPECT_THAT(parsed({"true"}).environment_patterns, IsEmpty());
  EXPECT_FALSE(parsed({"--env", "off", "true"}).records_environment);
  EXPECT_THAT(parsed({"--env-allow", "A,B_*", "--env-allow=C?", "true"}, "--env-allow D").environment_patterns,
              ElementsAre("D", "A", "B_*", "C?"));
  EXPECT_THAT(refusal({"--env", "all", "true"}), HasSubstr("write auto or off"));
  for (const char* wrong : {"*", "?A", "1A", "A-B", "A,", "A B", "A[B]"}) {
    EXPECT_THAT(refusal({"--env-allow", wrong, "true"}), HasSubstr("is no name of a variable"));
  }
}

TEST(ParseOptions, NameTheVariablesOfRanks) {
  EXPECT_STREQ(parsed({"true"}).rank_variables.rank, "");
  const Options options = parsed({"--rank-from", "R,L,S", "true"});
  EXPECT_STREQ(options.rank_variables.rank, "R");
  EXPECT_STREQ(options.rank_variables.local_rank, "L");
  EXPECT_STREQ(options.rank_variables.world_size, "S");
  EXPECT_THAT(refusal({"--rank-from", "R,", "true"}), HasSubstr("--rank-from R,: '' is no name of a variable"));
  EXPECT_THAT(refusal({"--rank-from", "R", "-o", "x.%q{R}/y", "true"}), HasSubstr("must be the same on all"));
}

TEST(ParseOptions, EndAtTheFirstWordThatIsNone) {
  const Options options = parsed({"-o", "x", "python", "-u", "train.py", "-o", "y", "--", "--help"});
  EXPECT_EQ(options.output, "x");
  EXPECT_THAT(options.command, ElementsAre("python", "-u", "train.py", "-o", "y", "--", "--help"));
  EXPECT_THAT(parsed({"-o", "x", "--", "-odd-name", "a"}).command, ElementsAre("-odd-name", "a"));
  EXPECT_THAT(parsed({"-", "x"}).command, ElementsAre("-", "x"));
}

TEST(ParseOptions, TakeAllSpellings) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"-o", "d/x", "c"}, {"-od/x", "c"}, {"-o=d/x", "c"}, {"--output", "d/x", "c"}, {"--output=d/x", "c"}}) {
    EXPECT_EQ(parsed(words).output, "d/x") << words[0];
    EXPECT_THAT(parsed(words).command, ElementsAre("c"));
  }
  EXPECT_EQ(parsed({"--output=a=b", "c"}).output, "a=b");
}

TEST(ParseOptions, OverwriteTakesAWordThatIsTrueOrFalseOnly) {
  EXPECT_TRUE(parsed({"-f", "c"}).can_replace_files);
  EXPECT_TRUE(parsed({"-f", "true", "c"}).can_replace_files);
  EXPECT_FALSE(parsed({"-f", "false", "c"}).can_replace_files);
  EXPECT_FALSE(parsed({"--force-overwrite=false", "c"}).can_replace_files);
  EXPECT_TRUE(parsed({"--force-overwrite", "-o", "x", "c"}).can_replace_files);
  EXPECT_FALSE(parsed({"-f", "-f", "false", "c"}).can_replace_files);
  EXPECT_THAT(parsed({"-f", "c"}).command, ElementsAre("c"));
  EXPECT_THAT(refusal({"-f=maybe", "c"}), HasSubstr("maybe"));
}

TEST(ParseOptions, ReadTheSelection) {
  const Options options = parsed(
      {"--ranks", "0,8-15", "--local-ranks=0", "--nodes", "1", "--sample-ranks", "4", "--if", "rank%2 == 0", "c"});
  EXPECT_STREQ(options.selection.ranks, "0,8-15");
  EXPECT_STREQ(options.selection.local_ranks, "0");
  EXPECT_STREQ(options.selection.nodes, "1");
  EXPECT_EQ(options.selection.sample_ranks, 4u);
  EXPECT_STREQ(options.selection.condition, "rank%2 == 0");
  EXPECT_EQ(options.selection_words, "--ranks 0,8-15 --local-ranks 0 --nodes 1 --sample-ranks 4 --if 'rank%2 == 0'");
}

TEST(ParseOptions, AConditionMayBeginWithADash) {
  EXPECT_STREQ(parsed({"--if", "-1<rank", "c"}).selection.condition, "-1<rank");
}

TEST(ParseOptions, NameWhatIsWrongAndWhere) {
  EXPECT_THAT(refusal({"--ranks", "0,x", "c"}), HasSubstr("--ranks 0,x: not a list at offset 2"));
  EXPECT_THAT(refusal({"--if", "rank==", "c"}), HasSubstr("not a condition at offset 6"));
  EXPECT_THAT(refusal({"--if", "1/0", "c"}), HasSubstr("--if '1/0' depends on the result of a division by zero"));
  EXPECT_EQ(parsed({"--if", "1/rank || 1/0", "c"}).selection_words, "--if '1/rank || 1/0'");
  EXPECT_THAT(refusal({"-Y", "true", "c"}), HasSubstr("; leave it out or write -Y false"));
  EXPECT_THAT(refusal({"--run-as", "x", "c"}), HasSubstr("; leave it out"));
  EXPECT_THAT(refusal({"--sample-ranks", "0", "c"}), HasSubstr("--sample-ranks 0"));
  EXPECT_THAT(refusal({"-o", "a%r/x", "c"}), HasSubstr("at offset 1, '%r/x': this differs between ranks"));
  EXPECT_THAT(refusal({"-o", "a/%x", "c"}), HasSubstr("'%x': not a macro"));
  EXPECT_THAT(refusal({"--on-conflict", "chain", "c"}), HasSubstr("--on-conflict chain"));
  EXPECT_THAT(refusal({"--grace", "soon", "c"}), HasSubstr("--grace soon"));
  EXPECT_THAT(refusal({"--no-such", "c"}), HasSubstr("no option --no-such"));
  EXPECT_THAT(refusal({"-Z", "c"}), HasSubstr("no option -Z"));
  EXPECT_THAT(refusal({"--quiet=1", "c"}), HasSubstr("--quiet takes no value"));
  EXPECT_THAT(refusal({"-o"}), HasSubstr("-o needs a value"));
  EXPECT_THAT(refusal({"--output=", "c"}), HasSubstr("--output needs a value"));
  EXPECT_THAT(refusal({"--ranks", "--", "c"}), HasSubstr("--ranks needs a value"));
  EXPECT_THAT(refusal({"--dry-run", "--check", "c"}), HasSubstr("exclude each other"));
  EXPECT_THAT(refusal({"-o", "x"}), HasSubstr("no command"));
  EXPECT_THAT(refusal({}), HasSubstr("no command"));
  EXPECT_THAT(refusal({}), HasSubstr("--help"));
  EXPECT_THAT(refusal({"--if", std::string(2000, '1'), "c"}), HasSubstr("--if"));
}

// As of `--if "$UNSET"`: taken for no value at all, it would trace other ranks than the user meant.
TEST(ParseOptions, RefuseAnEmptyValue) {
  for (const std::string option :
       {"--output",      "--rank-from", "--ranks",       "--local-ranks", "--nodes", "--sample-ranks", "--if",
        "--step-marker", "--nic-nodes", "--nic-hz",      "--nic-source",  "--clock", "--clock-port",   "--spool",
        "--spool-limit", "--margin",    "--on-conflict", "--grace",       "--wait",  "--publish-rate"}) {
    const std::string reason = option + " needs a value";
    EXPECT_EQ(refusal({option, "", "--", "c"}), reason);
    EXPECT_EQ(refusal({option + "=", "--", "c"}), reason);
    EXPECT_EQ(refusal({"c"}, (option + " ''").c_str()), "JAXPROF_OPTIONS: " + reason);
  }
  EXPECT_EQ(refusal({"--force-overwrite=", "c"}), "--force-overwrite needs a value");
}

TEST(ParseOptions, TheCommandLineWinsOverTheVariable) {
  const Options options = parsed({"-o", "b/y", "c"}, "-o 'a b/x' --ranks 3 --strict");
  EXPECT_EQ(options.output, "b/y");
  EXPECT_STREQ(options.selection.ranks, "3");
  EXPECT_TRUE(options.is_strict);
  EXPECT_EQ(parsed({"c"}, "-o 'a b/x'").output, "a b/x");
}

TEST(ParseOptions, TheVariableHoldsNoCommand) {
  EXPECT_THAT(refusal({"c"}, "--quiet python"), HasSubstr("JAXPROF_OPTIONS: 'python' is no option"));
  EXPECT_THAT(refusal({"c"}, "-o 'x"), HasSubstr("JAXPROF_OPTIONS: the quote"));
  EXPECT_THAT(refusal({"c"}, "--no-such"), HasSubstr("JAXPROF_OPTIONS: no option --no-such"));
}

TEST(ParseOptions, LimitsAreSizesAndSeconds) {
  EXPECT_FALSE(parsed({"c"}).spool_limit_bytes);
  EXPECT_EQ(parsed({"--spool-limit", "2G", "c"}).spool_limit_bytes, std::int64_t{2} << 30);
  EXPECT_EQ(parsed({"--spool-limit", "0", "c"}).spool_limit_bytes, 0);
  EXPECT_THAT(refusal({"--spool-limit", "2X", "c"}), HasSubstr("--spool-limit 2X: not a size such as 4G"));
  EXPECT_EQ(parsed({"c"}).margin_ns, 60'000'000'000);
  EXPECT_EQ(parsed({"--margin=0", "c"}).margin_ns, 0);
  EXPECT_THAT(refusal({"--margin", "1m", "c"}), HasSubstr("--margin 1m: not a whole number of seconds"));
}

TEST(ParseOptions, WhatIsReadOfNodes) {
  EXPECT_EQ(parsed({"c"}).observer.nic_nodes, NicNodes::kTraced);
  const Options options = parsed({"--nic-nodes", "all", "--nic-hz=100", "--nic-source", "sysfs", "c"});
  EXPECT_EQ(options.observer.nic_nodes, NicNodes::kAll);
  EXPECT_EQ(options.observer.nic_hz, 100U);
  EXPECT_EQ(options.observer.nic_source, "sysfs");
  EXPECT_EQ(parsed({"--nic-nodes=none", "c"}).observer.nic_nodes, NicNodes::kNone);
  EXPECT_EQ(refusal({"--nic-nodes", "some", "c"}), "--nic-nodes some: write traced, all or none");
  EXPECT_EQ(refusal({"--nic-hz", "0", "c"}), "--nic-hz 0: not a whole number from 1 to 1000");
  EXPECT_EQ(refusal({"--nic-hz", "1001", "c"}), "--nic-hz 1001: not a whole number from 1 to 1000");
  EXPECT_EQ(refusal({"--nic-source", "verbs", "c"}), "--nic-source verbs: write auto, netlink, sysfs or netdev");
  EXPECT_TRUE(options.observer.has_clock);
  EXPECT_FALSE(parsed({"--clock=off", "c"}).observer.has_clock);
  EXPECT_EQ(parsed({"--clock-port", "40000-40099", "c"}).observer.clock_ports, "40000-40099");
  EXPECT_EQ(refusal({"--clock", "on", "c"}), "--clock on: write auto or off");
  EXPECT_EQ(refusal({"--clock-port", "5-4", "c"}), "--clock-port 5-4: not a range of ports such as 40000-40099");
}

TEST(ParseOptions, HelpAndVersionNeedNoCommand) {
  const Options help = parsed({"--help"});
  EXPECT_EQ(help.mode, Mode::kHelp);
  for (const char* option : {"--output",      "--force-overwrite",
                             "--ranks",       "--local-ranks",
                             "--nodes",       "--sample-ranks",
                             "--if",          "--inner-ranks",
                             "--nic-nodes",   "--nic-hz",
                             "--nic-source",  "--spool",
                             "--clock",       "--clock-port",
                             "--spool-limit", "--margin",
                             "--on-conflict", "--grace",
                             "--dry-run",     "--check",
                             "--strict",      "--quiet",
                             "--version",     "JAXPROF_OPTIONS",
                             "COMMAND",       "%q{VAR}"}) {
    EXPECT_THAT(help.text, HasSubstr(option));
  }
  EXPECT_EQ(parsed({"--version"}).text, "jaxprof-exec " JAXPROF_VERSION "\n");
  EXPECT_EQ(parsed({"--check"}).mode, Mode::kCheck);
}

TEST(ParseOptions, SeeCommandsThatStartRanks) {
  EXPECT_TRUE(parsed({"torchrun", "x.py"}).has_inner_ranks);
  EXPECT_TRUE(parsed({"--inner-ranks", "./start.sh"}).has_inner_ranks);
  EXPECT_FALSE(parsed({"python", "x.py"}).has_inner_ranks);
}

TEST(ParseOptions, TakeAStepMarkerAndRefuseOneThatIsNone) {
  EXPECT_EQ(parsed({"c"}).step_marker.kind, StepMarkerKind::kRange);
  EXPECT_STREQ(parsed({"c"}).step_marker.name, "step");
  const StepMarker other = parsed({"--step-marker", "train_batch@lib", "c"}).step_marker;
  EXPECT_STREQ(other.name, "train_batch");
  EXPECT_STREQ(other.domain, "lib");
  EXPECT_EQ(parsed({"--step-marker=xla:jit_train_step", "c"}).step_marker.kind, StepMarkerKind::kXlaModule);
  EXPECT_EQ(parsed({"--step-marker", "none", "c"}).step_marker.kind, StepMarkerKind::kNone);
  EXPECT_THAT(refusal({"--step-marker", "step@", "c"}), HasSubstr("--step-marker step@: no domain follows the '@'"));
  EXPECT_THAT(refusal({"--step-marker", "xla:", "c"}), HasSubstr("needs the name of a module"));
}

}  // namespace
}  // namespace jaxprof::launcher
