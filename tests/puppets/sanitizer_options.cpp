// Built with the address sanitizer, the NCCL puppet must still end as a job would: Open MPI frees some of its memory
// never, which is no finding of ours; a crash on request has to end by its signal; and a test preloads a library
// before the sanitizer's own. The sanitizer asks this function for its defaults; without it nobody calls it.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:handle_segv=0:allow_user_segv_handler=1:verify_asan_link_order=0";
}
