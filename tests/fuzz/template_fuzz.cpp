// Output templates: the text of -o, checked and expanded into buffers of any size.
#include <cstring>
#include <string>
#include <vector>

#include "agent/contract/output_template.h"
#include "tests/fuzz/planted_fault.h"

using namespace jaxprof;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t capacity = 1 + bytes[0];
  const std::string text(reinterpret_cast<const char*>(bytes + 1), size - 1);
  const TemplateReport checked = check_template(text.c_str());
  fuzz::demand(checked.fault == TemplateFault::kNone || checked.fault_offset <= std::strlen(text.c_str()),
               "a fault lies within the template");
  const std::size_t stem = stem_offset(text.c_str());
  fuzz::demand(stem <= std::strlen(text.c_str()), "the stem lies within the template");

  const char* environment[] = {"SET=a/b%r", "EMPTY=", nullptr};
  RunIdentity run;
  TemplateValues values;
  values.run = &run;
  values.host = "host";
  values.pid = 7;
  std::vector<char> buffer(capacity);
  TextBuffer out(buffer.data(), buffer.size());
  const TemplateReport expanded =
      expand_template(text.c_str() + stem, std::strlen(text.c_str()) - stem, true, values, Env(environment), &out);
  fuzz::demand(std::strlen(out.c_str()) < capacity, "the text ends within its buffer");
  fuzz::demand(std::strchr(out.c_str(), '/') == nullptr, "a stem has no slash");
  fuzz::plant_fault(expanded.unset_variable[0] == 'Q');
  return 0;
}
