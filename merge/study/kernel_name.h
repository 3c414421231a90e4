// Names of kernels as people know them. CUPTI tells what the compiler made of them (_ZN2at6native…), with templates and
// parameters that fill screens; machine formats keep that name, since others' tools join by it.
#pragma once

#include <string>
#include <string_view>

namespace jaxprof::study {

// "_Z3addPf" -> "add(float*)"; a name that is not mangled, or wrongly, as it is.
std::string demangled(std::string_view name);

// The function alone, as nsys's `base`: without result, namespaces, template arguments and parameters.
std::string base_name(std::string_view demangled);

// Function and template arguments, without result, namespaces and parameters, at most `width` characters: what tells
// two instances of one template apart.
std::string short_name(std::string_view demangled, std::size_t width);

}  // namespace jaxprof::study
