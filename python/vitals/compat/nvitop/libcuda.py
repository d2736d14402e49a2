"""CUDA's driver library, libcuda.so.1, for programs that call it through nvitop. Nothing here is read with it."""

from __future__ import annotations

import os

from vitals.compat.nvitop._cuda import CudaCallError, CudaLibrary, error_codes, error_names, exception_class

_CODES = error_codes("""
    INVALID_VALUE=1 OUT_OF_MEMORY=2 NOT_INITIALIZED=3 DEINITIALIZED=4 PROFILER_DISABLED=5 STUB_LIBRARY=34
    DEVICE_UNAVAILABLE=46 NO_DEVICE=100 INVALID_DEVICE=101 DEVICE_NOT_LICENSED=102 INVALID_IMAGE=200
    INVALID_CONTEXT=201 MAP_FAILED=205 UNMAP_FAILED=206 ARRAY_IS_MAPPED=207 ALREADY_MAPPED=208 NO_BINARY_FOR_GPU=209
    ALREADY_ACQUIRED=210 NOT_MAPPED=211 NOT_MAPPED_AS_ARRAY=212 NOT_MAPPED_AS_POINTER=213 ECC_UNCORRECTABLE=214
    UNSUPPORTED_LIMIT=215 CONTEXT_ALREADY_IN_USE=216 PEER_ACCESS_UNSUPPORTED=217 INVALID_PTX=218
    INVALID_GRAPHICS_CONTEXT=219 NVLINK_UNCORRECTABLE=220 JIT_COMPILER_NOT_FOUND=221 UNSUPPORTED_PTX_VERSION=222
    JIT_COMPILATION_DISABLED=223 UNSUPPORTED_EXEC_AFFINITY=224 INVALID_SOURCE=300 FILE_NOT_FOUND=301
    SHARED_OBJECT_SYMBOL_NOT_FOUND=302 SHARED_OBJECT_INIT_FAILED=303 OPERATING_SYSTEM=304 INVALID_HANDLE=400
    ILLEGAL_STATE=401 NOT_FOUND=500 NOT_READY=600 ILLEGAL_ADDRESS=700 LAUNCH_OUT_OF_RESOURCES=701 LAUNCH_TIMEOUT=702
    LAUNCH_INCOMPATIBLE_TEXTURING=703 PEER_ACCESS_ALREADY_ENABLED=704 PEER_ACCESS_NOT_ENABLED=705
    PRIMARY_CONTEXT_ACTIVE=708 CONTEXT_IS_DESTROYED=709 ASSERT=710 TOO_MANY_PEERS=711
    HOST_MEMORY_ALREADY_REGISTERED=712 HOST_MEMORY_NOT_REGISTERED=713 HARDWARE_STACK_ERROR=714
    ILLEGAL_INSTRUCTION=715 MISALIGNED_ADDRESS=716 INVALID_ADDRESS_SPACE=717 INVALID_PC=718 LAUNCH_FAILED=719
    COOPERATIVE_LAUNCH_TOO_LARGE=720 NOT_PERMITTED=800 NOT_SUPPORTED=801 SYSTEM_NOT_READY=802
    SYSTEM_DRIVER_MISMATCH=803 COMPAT_NOT_SUPPORTED_ON_DEVICE=804 MPS_CONNECTION_FAILED=805 MPS_RPC_FAILURE=806
    MPS_SERVER_NOT_READY=807 MPS_MAX_CLIENTS_REACHED=808 MPS_MAX_CONNECTIONS_REACHED=809
    STREAM_CAPTURE_UNSUPPORTED=900 STREAM_CAPTURE_INVALIDATED=901 STREAM_CAPTURE_MERGE=902
    STREAM_CAPTURE_UNMATCHED=903 STREAM_CAPTURE_UNJOINED=904 STREAM_CAPTURE_ISOLATION=905
    STREAM_CAPTURE_IMPLICIT=906 CAPTURED_EVENT=907 STREAM_CAPTURE_WRONG_THREAD=908 TIMEOUT=909
    GRAPH_EXEC_UPDATE_FAILURE=910 EXTERNAL_DEVICE=911 UNKNOWN=999
""")
CUDA_SUCCESS = 0


class CUDAError(CudaCallError):
    """A call of CUDA's driver failed; `value` is the code."""


globals().update(error_names(CUDAError, "CUDA_ERROR_", _CODES, lambda name: "CUDAError_" + name.title().replace("_", ""), __name__))
_FOLDERS = ("", "/usr/lib64/nvidia/", "/usr/lib/x86_64-linux-gnu/", "/usr/lib/wsl/lib/")
_library = CudaLibrary(lambda: [f"{folder}libcuda.so{end}" for folder in _FOLDERS for end in (".1", "")],
                       CUDAError, absent=_CODES["NOT_INITIALIZED"], unknown=_CODES["NOT_FOUND"])
_started = False


def _after_fork() -> None:
    global _started
    _started = False


os.register_at_fork(after_in_child=_after_fork)


def cudaExceptionClass(cudaErrorCode: int, /) -> type[CudaCallError]:
    """The class of the errors with a code."""
    return exception_class(CUDAError, cudaErrorCode)


def cuInit(flags: int = 0) -> None:
    """Starts CUDA in this process, once."""
    global _started
    if not _started:
        _library.call("cuInit", flags)
        _started = True


def _word(function: str, error: int) -> str:
    import ctypes
    out = ctypes.c_char_p()
    _library.call(function, error, ctypes.byref(out))
    return (out.value or b"").decode("utf-8", "replace")


def cuGetErrorName(error: int) -> str:
    return _word("cuGetErrorName", error)


def cuGetErrorString(error: int) -> str:
    return _word("cuGetErrorString", error)


CUDAError._describe = staticmethod(cuGetErrorString)


def cuDriverGetVersion() -> str:
    """As "12.8"."""
    return _library.version("cuDriverGetVersion")


def cuDeviceGetCount() -> int:
    return int(_library.number("cuDeviceGetCount"))


def cuDeviceGet(ordinal: int) -> int:
    """A device, for the functions below."""
    return int(_library.number("cuDeviceGet", ordinal))


def cuDeviceGetByPCIBusId(pciBusId: str) -> int:
    return int(_library.number("cuDeviceGetByPCIBusId", pciBusId.encode()))


def cuDeviceGetPCIBusId(device: int) -> str:
    return _library.text("cuDeviceGetPCIBusId", device)


def cuDeviceGetName(device: int) -> str:
    return _library.text("cuDeviceGetName", device)


def _uuid(function: str, device: int) -> str:
    import ctypes
    import uuid
    out = (ctypes.c_ubyte * 16)()
    _library.call(function, out, device)
    return str(uuid.UUID(bytes=bytes(out)))


def cuDeviceGetUuid(device: int) -> str:
    """Without "GPU-" or "MIG-" in front; of a MIG device its own, where the driver is new enough."""
    try:
        return _uuid("cuDeviceGetUuid_v2", device)
    except CUDAError as error:
        if error.value != _CODES["NOT_FOUND"]:
            raise
        return _uuid("cuDeviceGetUuid", device)


def cuDeviceGetUuid_v2(device: int) -> str:
    return _uuid("cuDeviceGetUuid_v2", device)


def cuDeviceTotalMem(device: int) -> int:
    return int(_library.number("cuDeviceTotalMem_v2", device, kind="c_size_t"))


def is_available() -> bool:
    """Whether CUDA was started and sees a device."""
    try:
        return cuDeviceGetCount() > 0
    except CUDAError:
        return False


__all__ = [name for name in globals() if name.startswith(("CUDA", "cu")) and name not in ("CudaCallError",)]
