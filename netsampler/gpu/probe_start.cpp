// Where jaxprof-probe begins. The C library's own start code, which a linker takes from the system that it runs on,
// asks for __libc_start_main of GLIBC_2.34, and a program with it does not start on anything older. The function of
// before is still in every newer library; this asks for that one. No constructors and destructors: it is told of none,
// and the probe has none. What the registers hold at the start is the processor's ABI (System V AMD64 3.4.1, AAPCS64).

#if defined(__x86_64__)
__asm__(
    ".symver __libc_start_main,__libc_start_main@GLIBC_2.2.5\n"
    ".text\n"
    ".globl _start\n"
    ".type _start, @function\n"
    "_start:\n"
    "  .cfi_startproc\n"
    "  .cfi_undefined rip\n"
    "  xorl %ebp, %ebp\n"     // the outermost frame
    "  movq %rdx, %r9\n"      // what the loader wants called at the end
    "  movq (%rsp), %rsi\n"   // argument count
    "  leaq 8(%rsp), %rdx\n"  // arguments
    "  andq $-16, %rsp\n"
    "  pushq %rsp\n"       // end of the stack, the seventh argument
    "  pushq (%rsp)\n"     // twice, so that the call finds the stack as it must be
    "  xorl %r8d, %r8d\n"  // no destructors
    "  xorl %ecx, %ecx\n"  // no constructors
    "  leaq main(%rip), %rdi\n"
    "  call *__libc_start_main@GOTPCREL(%rip)\n"
    "  hlt\n"
    "  .cfi_endproc\n"
    ".size _start, .-_start\n");
#elif defined(__aarch64__)
__asm__(
    ".symver __libc_start_main,__libc_start_main@GLIBC_2.17\n"
    ".text\n"
    ".globl _start\n"
    ".type _start, %function\n"
    "_start:\n"
    "  .cfi_startproc\n"
    "  .cfi_undefined x30\n"
    "  mov x29, #0\n"  // the outermost frame
    "  mov x30, #0\n"
    "  mov x5, x0\n"      // what the loader wants called at the end
    "  ldr x1, [sp]\n"    // argument count
    "  add x2, sp, #8\n"  // arguments
    "  mov x6, sp\n"      // end of the stack
    "  adrp x0, main\n"
    "  add x0, x0, :lo12:main\n"
    "  mov x3, #0\n"  // no constructors
    "  mov x4, #0\n"  // no destructors
    "  bl __libc_start_main\n"
    "  brk #0\n"
    "  .cfi_endproc\n"
    ".size _start, .-_start\n");
#else
#error "jaxprof-probe does not know how a program starts on this processor"
#endif
