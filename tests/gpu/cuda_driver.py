"""The CUDA driver by ctypes, as far as the GPU checks need it: no toolkit, no compiler, no framework.

Kernels come as PTX text, which the driver compiles. Every call that fails raises CudaError with the driver's own words.
"""

import ctypes
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_ulonglong, c_void_p

# spin(ns): one thread that watches %globaltimer for so long. PTX 6.0 and sm_50 are old enough for every driver in use.
SPIN_PTX = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .entry spin(.param .u64 wanted_ns)
{
  .reg .pred %p;
  .reg .u64 %wanted, %begin, %now, %passed;
  ld.param.u64 %wanted, [wanted_ns];
  mov.u64 %begin, %globaltimer;
again:
  mov.u64 %now, %globaltimer;
  sub.u64 %passed, %now, %begin;
  setp.lt.u64 %p, %passed, %wanted;
  @%p bra again;
  ret;
}
.visible .entry spin_briefly()
{
  ret;
}
"""

STREAM_NON_BLOCKING = 1
CAPTURE_THREAD_LOCAL = 1
ATTRIBUTE_PROCESSORS = 16


class CudaError(RuntimeError):
    pass


class Driver:
    """One device's primary context, current on the thread that made it."""

    def __init__(self, device=0):
        self.library = ctypes.CDLL("libcuda.so.1")
        # Renamed in CUDA 13, with the old name gone from what only has the new headers.
        self.elapsed = next(n for n in ("cuEventElapsedTime", "cuEventElapsedTime_v2") if hasattr(self.library, n))
        self.call("cuInit", c_uint(0))
        self.device = c_int()
        self.call("cuDeviceGet", byref(self.device), c_int(device))
        self.context = c_void_p()
        self.call("cuDevicePrimaryCtxRetain", byref(self.context), self.device)
        self.make_current()
        self.module = c_void_p()
        self.call("cuModuleLoadData", byref(self.module), c_char_p(SPIN_PTX))
        self.spin = self.function(b"spin")
        self.brief = self.function(b"spin_briefly")

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            text = c_char_p()
            self.library.cuGetErrorString(c_int(status), byref(text))
            raise CudaError(f"{name}: {(text.value or b'error').decode()} ({status})")

    def make_current(self):
        self.call("cuCtxSetCurrent", self.context)

    def name(self):
        text = ctypes.create_string_buffer(128)
        self.call("cuDeviceGetName", text, c_int(len(text)), self.device)
        return text.value.decode()

    def function(self, name):
        function = c_void_p()
        self.call("cuModuleGetFunction", byref(function), self.module, c_char_p(name))
        return function

    def stream(self):
        stream = c_void_p()
        self.call("cuStreamCreate", byref(stream), c_uint(STREAM_NON_BLOCKING))
        return stream

    def launch(self, stream, spin_ns=None):
        """One block of one thread; without `spin_ns` a kernel that returns at once."""
        parameters = None
        if spin_ns is not None:
            value = c_ulonglong(spin_ns)
            parameters = (c_void_p * 1)(ctypes.cast(byref(value), c_void_p))
        function = self.brief if spin_ns is None else self.spin
        one = c_uint(1)
        self.call("cuLaunchKernel", function, one, one, one, one, one, one, c_uint(0), stream, parameters, None)

    def synchronize(self, stream=None):
        if stream is None:
            self.call("cuCtxSynchronize")
        else:
            self.call("cuStreamSynchronize", stream)

    def memory(self, size):
        address = c_ulonglong()
        self.call("cuMemAlloc_v2", byref(address), c_size_t(size))
        return address

    def copy(self, to, source, size, stream):
        self.call("cuMemcpyDtoDAsync_v2", to, source, c_size_t(size), stream)

    def fill(self, to, size, stream):
        self.call("cuMemsetD8Async", to, ctypes.c_ubyte(0), c_size_t(size), stream)

    def event(self):
        event = c_void_p()
        self.call("cuEventCreate", byref(event), c_uint(0))
        return event

    def record(self, event, stream):
        self.call("cuEventRecord", event, stream)

    def elapsed_ns(self, begin, end):
        milliseconds = c_float()
        self.call("cuEventSynchronize", end)
        self.call(self.elapsed, byref(milliseconds), begin, end)
        return milliseconds.value * 1e6

    def capture(self, stream, work):
        """What `work()` launches on `stream`, as an executable graph."""
        graph, executable = c_void_p(), c_void_p()
        self.call("cuStreamBeginCapture_v2", stream, c_int(CAPTURE_THREAD_LOCAL))
        work()
        self.call("cuStreamEndCapture", stream, byref(graph))
        self.call("cuGraphInstantiateWithFlags", byref(executable), graph, c_ulonglong(0))
        return executable

    def launch_graph(self, executable, stream):
        self.call("cuGraphLaunch", executable, stream)

    def profiler_start(self):
        self.call("cuProfilerStart")

    def profiler_stop(self):
        self.call("cuProfilerStop")
