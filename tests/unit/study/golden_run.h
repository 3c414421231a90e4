// A run so small that each number of a study of it can be worked out by hand: three ranks, two steps, three
// collectives.
#pragma once

#include "merge/runfile/run_tables.h"

namespace jaxprof::study::test {

// Ranks 0 and 1 on node n0, rank 2 on n1, a GPU each. Steps 0 and 1 last 1000 µs each, from 0 on. In µs:
//
//            step 0                                            step 1
//   rank 0   gemm 100-300  AR 300-650  gemm 650-700  AG 700-900   gemm 1100-1300                  AR 1300-1750
//   rank 1   gemm 100-400  AR 400-650  gemm 650-750  AG 750-900   gemm 1100-1350                  AR 1300-1750
//   rank 2   gemm 100-600  AR 600-650  gemm 650-750  AG 750-900   gemm 1100-1300  copy 1300-1350  AR 1700-1750
//
// AR: AllReduce f32 of 1 000 000 bytes. AG: AllGather f32 of 3 000 000 bytes in all. On rank 1 gemm and AR overlap from
// 1300 to 1350. The host launches each kernel or copy 9 µs before it begins, but the gemms at 650 already at 200, and
// begins each call of NCCL 10 µs before its kernel. Clocks of the nodes: sigma 0.1 µs, bound 1 µs.
runfile::RunTables golden_run();

}  // namespace jaxprof::study::test
