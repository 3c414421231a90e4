// Scenarios of a program that marks its steps, in every form that NVTX has for it.
#include <string>
#include <thread>
#include <vector>

#include "agent/collect/event_sink.h"
#include "tests/unit/collect/child_program.h"
#include "tests/unit/nvtx/fake_nvtx.h"

namespace jaxprof::test {
namespace {

// A program with one copy of NVTX.
class Program {
 public:
  Program() { nvtx_.initialize(); }

  const FakeNvtx& nvtx() const { return nvtx_; }
  nvtxDomainHandle_t domain(const char* name) const { return nvtx_.create_domain(name); }
  void push(nvtxDomainHandle_t domain, const char* message) const { nvtx_.push(domain, attributes_of(message)); }
  void pop(nvtxDomainHandle_t domain) const { nvtx_.pop(domain); }
  nvtxRangeId_t start(nvtxDomainHandle_t domain, const char* message) const {
    using Start = nvtxRangeId_t (*)(nvtxDomainHandle_t, const nvtxEventAttributes_t*);
    const nvtxEventAttributes_t attributes = attributes_of(message);
    return nvtx_.core2<Start>(NVTX_CBID_CORE2_DomainRangeStartEx)(domain, &attributes);
  }
  void end(nvtxDomainHandle_t domain, nvtxRangeId_t range) const {
    nvtx_.core2<void (*)(nvtxDomainHandle_t, nvtxRangeId_t)>(NVTX_CBID_CORE2_DomainRangeEnd)(domain, range);
  }
  void range(nvtxDomainHandle_t domain, const char* message) const {
    push(domain, message);
    pop(domain);
  }
  nvtxEventAttributes_t registered(nvtxDomainHandle_t domain, const char* message) const {
    nvtxEventAttributes_t attributes = attributes_of("");
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtx_.register_string(domain, message);
    return attributes;
  }

 private:
  FakeNvtx nvtx_;
};

// As a window that closes and opens again does.
void record(bool is_on) {
  static std::uint32_t segment = 1;
  collect::detail::capture.store(is_on ? ++segment : 0);
}

void every_form() {
  const Program program;
  const nvtxDomainHandle_t own = program.domain("jaxprof");
  const nvtxDomainHandle_t other = program.domain("other");
  program.range(nullptr, "step");
  program.range(own, "step");
  program.range(other, "step");
  program.range(nullptr, "step 1");
  program.nvtx().push(own, program.registered(own, "step"));
  program.pop(own);
  program.nvtx().core<int (*)(const char*)>(NVTX_CBID_CORE_RangePushA)("step");
  program.nvtx().core<int (*)()>(NVTX_CBID_CORE_RangePop)();
  program.nvtx().core<int (*)(const wchar_t*)>(NVTX_CBID_CORE_RangePushW)(L"step");
  program.nvtx().core<int (*)()>(NVTX_CBID_CORE_RangePop)();
  program.end(own, program.start(own, "step"));
  program.nvtx().core<void (*)(const char*)>(NVTX_CBID_CORE_MarkA)("step");
  const auto wide = program.nvtx().core2<nvtxDomainHandle_t (*)(const wchar_t*)>(NVTX_CBID_CORE2_DomainCreateW);
  program.range(wide(L"jaxprof"), "step");
}

void payload_types() {
  const Program program;
  const auto step = [&program](int type, auto&& set) {
    nvtxEventAttributes_t attributes = attributes_of("step");
    attributes.payloadType = type;
    set(attributes.payload);
    program.nvtx().push(nullptr, attributes);
    program.pop(nullptr);
  };
  step(NVTX_PAYLOAD_TYPE_INT64, [](auto& p) { p.llValue = -3; });
  step(NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, [](auto& p) { p.ullValue = 4'000'000'000'000; });
  step(NVTX_PAYLOAD_TYPE_INT32, [](auto& p) { p.iValue = -5; });
  step(NVTX_PAYLOAD_TYPE_UNSIGNED_INT32, [](auto& p) { p.uiValue = 4'000'000'000; });
  step(NVTX_PAYLOAD_TYPE_DOUBLE, [](auto& p) { p.dValue = 9; });
  step(NVTX_PAYLOAD_TYPE_FLOAT, [](auto& p) { p.fValue = 9; });
  step(NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, [](auto& p) { p.ullValue = UINT64_MAX; });
  step(NVTX_PAYLOAD_TYPE_INT64, [](auto& p) { p.llValue = INT64_MIN; });
}

void nested() {
  const Program program;
  const nvtxDomainHandle_t own = program.domain("jaxprof");
  program.push(nullptr, "step");  // 0
  program.push(nullptr, "phase");
  program.push(own, "step");  // inside, in another domain
  program.end(own, program.start(own, "step"));
  program.pop(own);
  program.pop(nullptr);
  program.push(nullptr, "step");  // inside
  program.pop(nullptr);
  program.pop(nullptr);
  const nvtxRangeId_t first = program.start(nullptr, "step");   // 1
  const nvtxRangeId_t second = program.start(nullptr, "step");  // 2: started ranges overlap, and do not nest
  program.end(nullptr, first);
  program.range(nullptr, "step");  // 3
  program.end(nullptr, second);
  program.push(nullptr, "epoch");
  program.push(nullptr, "step");  // 4: what is around it is no step
  program.pop(nullptr);
  program.pop(nullptr);
}

void while_closed() {
  const Program program;
  const auto run_steps = [&program](int count) {
    for (int i = 0; i < count; ++i) program.range(nullptr, "step");
  };
  record(false);
  run_steps(3);
  program.end(nullptr, program.start(nullptr, "step"));
  record(true);
  run_steps(2);  // 4, 5
  record(false);
  program.push(nullptr, "step");  // 6 begins unrecorded
  record(true);
  program.range(nullptr, "step");  // inside it
  program.pop(nullptr);
  run_steps(1);  // 7
  record(false);
  const nvtxRangeId_t started = program.start(nullptr, "step");  // 8 begins unrecorded
  record(true);
  program.range(nullptr, "step");  // 9
  program.end(nullptr, started);
  program.push(nullptr, "step");  // 10 ends unrecorded
  record(false);
  program.pop(nullptr);
  record(true);
  run_steps(1);  // 11
}

void never_ended() {
  const Program program;
  program.range(nullptr, "step");  // 0
  program.push(nullptr, "step");   // 1, and an error passes
  program.range(nullptr, "step");  // inside
  program.push(nullptr, "phase");
  program.range(nullptr, "step");  // inside
  program.pop(nullptr);
}

void over_threads() {
  const Program program;
  const nvtxRangeId_t started = program.start(nullptr, "step");  // 0
  std::thread([&program, started] {
    program.range(nullptr, "step");  // 1: the other's is not around it
    program.end(nullptr, started);
    program.push(nullptr, "step");  // 2, and it never ends
  }).join();
  program.range(nullptr, "step");                                      // 3: the other thread ended ours
  std::thread([&program] { program.range(nullptr, "step"); }).join();  // 4, perhaps in the ring of the ended thread
  program.end(nullptr, started);                                       // once too often
  program.range(nullptr, "step");                                      // 5
}

void xla_modules() {
  const Program program;
  const nvtxDomainHandle_t tsl = program.domain("TSL");
  const nvtxEventAttributes_t first = program.registered(tsl, "XlaModule:#hlo_module=jit_step,program_id=3#");
  const auto device = [&program, tsl, &first](int executions) {
    const auto execute = [&program, tsl](const nvtxEventAttributes_t& title) {
      program.nvtx().push(tsl, title);
      program.range(tsl, "Thunk:#name=fusion,hlo_op=fusion.1#");
      program.pop(tsl);
    };
    for (int i = 0; i < executions; ++i) {
      execute(first);
      execute(attributes_of("XlaModule:#hlo_module=jit_step_init,program_id=1#"));
    }
    // Compiled again, and by an XLA that passes C strings.
    execute(attributes_of("XlaModule:#prefix=jit(step)/x,hlo_module=jit_step,program_id=9#"));
  };
  std::thread one(device, 3);
  std::thread two(device, 5);
  one.join();
  two.join();
  program.range(program.domain("other"), "XlaModule:#hlo_module=jit_step,program_id=3#");
}

constexpr Scenario kScenarios[] = {
    {"every_form", every_form},     {"payload_types", payload_types}, {"nested", nested},
    {"while_closed", while_closed}, {"never_ended", never_ended},     {"over_threads", over_threads},
    {"xla_modules", xla_modules},
};

}  // namespace

std::span<const Scenario> scenarios() {
  return kScenarios;
}

}  // namespace jaxprof::test
