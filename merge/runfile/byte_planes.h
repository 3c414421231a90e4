// HDF5's shuffle filter: byte k of every element together, so that bytes which are alike lie beside each other. These
// are its two directions; what they do depends on the bytes alone.
#pragma once

#include <cstddef>
#include <span>

namespace jaxprof::runfile {

// Whole elements only; `planes` and `elements` are of one length and do not overlap.
void shuffle(std::span<const std::byte> elements, std::size_t element_bytes, std::span<std::byte> planes);
void unshuffle(std::span<const std::byte> planes, std::size_t element_bytes, std::span<std::byte> elements);

}  // namespace jaxprof::runfile
