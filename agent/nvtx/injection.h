// How NVTX finds us. Every shared object that uses NVTX has a copy of it with function tables of its own, and calls in
// once for each; the extension calls in once more for payloads. All that is done here is to attach and to fill tables:
// other callers of that copy spin until we return.
#pragma once

namespace jaxprof::nvtx {

// The work of InitializeInjectionNvtx2: `get_export_table` is NVTX's NvtxGetExportTableFunc_t. Returns 1, always: what
// NVTX does with a failure is to fall silent.
int initialize(const void* (*get_export_table)(unsigned)) noexcept;

// The work of InitializeInjectionNvtxExtension: `module` is NVTX's nvtxExtModuleInfo_t.
int initialize_extension(void* module) noexcept;

}  // namespace jaxprof::nvtx
