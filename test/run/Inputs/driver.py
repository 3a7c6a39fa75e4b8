"""A CUDA driver through ctypes: the real one, or the emulator's libcuda.so.1. Launches PTX on numpy arrays."""
import ctypes

import numpy as np

ERROR_LOG, ERROR_LOG_BYTES = 5, 6  # CU_JIT_ERROR_LOG_BUFFER, …_SIZE_BYTES
DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


class DriverError(Exception):
    """A call that failed, by its name; with what the driver's compiler said."""


class Array:
    """Memory of the device that begins as the numpy array."""

    def __init__(self, driver, array):
        self.driver, self.array = driver, np.ascontiguousarray(array)
        self.pointer = ctypes.c_uint64()
        driver.call("cuMemAlloc_v2", ctypes.byref(self.pointer), ctypes.c_size_t(max(self.array.nbytes, 1)))
        self.write(self.array)

    def write(self, array):
        self.driver.call("cuMemcpyHtoD_v2", self.pointer, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes))

    def read(self):
        out = np.empty_like(self.array)
        self.driver.call("cuMemcpyDtoH_v2", out.ctypes.data_as(ctypes.c_void_p), self.pointer, ctypes.c_size_t(out.nbytes))
        return out

    def free(self):
        self.driver.call("cuMemFree_v2", self.pointer)


class Driver:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.call("cuInit", 0)
        self.device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(self.device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), self.device)
        self.call("cuCtxPushCurrent_v2", self.context)

    def call(self, name, *args):
        code = getattr(self.library, name)(*args)
        if code == 0:
            return
        text = ctypes.c_char_p()
        self.library.cuGetErrorString(code, ctypes.byref(text))
        raise DriverError("%s: %s (%d)" % (name, (text.value or b"?").decode(), code))

    def array(self, array):
        return Array(self, array)

    def load(self, ptx):
        """A module; its kernels by name. PTX that the driver refuses: DriverError with its log."""
        log = ctypes.create_string_buffer(4096)
        options = (ctypes.c_int * 2)(ERROR_LOG, ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        module = ctypes.c_void_p()
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), ctypes.c_char_p(ptx.encode()), 2, options, values)
        except DriverError as error:
            raise DriverError("%s: %s" % (error, log.value.decode(errors="replace").strip())) from None
        return Module(self, module)


class Module:
    def __init__(self, driver, handle):
        self.driver, self.handle = driver, handle

    def launch(self, kernel, grid, threads, params, shared=0):
        """params: ctypes values in the kernel's order."""
        function = ctypes.c_void_p()
        self.driver.call("cuModuleGetFunction", ctypes.byref(function), self.handle, kernel.encode())
        if shared > 48 * 1024:
            self.driver.call("cuFuncSetAttribute", function, DYNAMIC_SHARED, shared)
        pointers = (ctypes.c_void_p * max(len(params), 1))(*(ctypes.addressof(p) for p in params))
        x, y, z = grid
        self.driver.call("cuLaunchKernel", function, x, y, z, threads, 1, 1, shared, None, pointers, None)
        self.driver.call("cuStreamSynchronize", None)

    def unload(self):
        self.driver.call("cuModuleUnload", self.handle)
