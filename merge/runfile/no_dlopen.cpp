// A static program must not dlopen: under another glibc it aborts. HDF5's plugin loader, which hdf5_session.cpp
// switches off, still refers to it. Static programs are linked with --wrap=dlopen, so that this stands in its place.
extern "C" void* __wrap_dlopen(const char*, int) {
  return nullptr;
}
