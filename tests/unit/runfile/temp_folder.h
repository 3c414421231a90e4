// The tests' folder of their own, under the name that this folder's tests use for what is theirs.
#pragma once

#include "tests/unit/base/temp_folder.h"

namespace jaxprof::runfile::test {
using jaxprof::test::TempFolder;
}  // namespace jaxprof::runfile::test
