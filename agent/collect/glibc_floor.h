// The agent is loaded into whatever container the user runs, so it must not ask for a symbol newer than GLIBC_2.28.
// These moved into libc.so.6 with glibc 2.34 and got a new default version there; the old versions still work
// everywhere. Included ahead of every source file of the shared object.
#pragma once

#if defined(__x86_64__)
#define JAXPROF_GLIBC_BASE "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define JAXPROF_GLIBC_BASE "GLIBC_2.17"
#endif

#if defined(JAXPROF_GLIBC_BASE)
__asm__(".symver pthread_create,pthread_create@" JAXPROF_GLIBC_BASE);
__asm__(".symver pthread_key_create,pthread_key_create@" JAXPROF_GLIBC_BASE);
__asm__(".symver pthread_setspecific,pthread_setspecific@" JAXPROF_GLIBC_BASE);
__asm__(".symver pthread_attr_setstacksize,pthread_attr_setstacksize@" JAXPROF_GLIBC_BASE);
__asm__(".symver pthread_sigmask,pthread_sigmask@" JAXPROF_GLIBC_BASE);
__asm__(".symver dlopen,dlopen@" JAXPROF_GLIBC_BASE);
__asm__(".symver dlerror,dlerror@" JAXPROF_GLIBC_BASE);
__asm__(".symver dlsym,dlsym@" JAXPROF_GLIBC_BASE);
#endif
