"""CUDA's runtime library, libcudart.so, for programs that call it through nvitop, and for its version."""

from __future__ import annotations

import os
from typing import Iterator

from vitals.compat.nvitop._cuda import CudaCallError, CudaLibrary, error_codes, error_names, exception_class

_CODES = error_codes("""
    InvalidValue=1 MemoryAllocation=2 InitializationError=3 CudartUnloading=4 ProfilerDisabled=5
    InvalidConfiguration=9 InvalidPitchValue=12 InvalidSymbol=13 InvalidTexture=18 InvalidTextureBinding=19
    InvalidChannelDescriptor=20 InvalidMemcpyDirection=21 InvalidFilterSetting=26 InvalidNormSetting=27
    StubLibrary=34 InsufficientDriver=35 CallRequiresNewerDriver=36 InvalidSurface=37 DuplicateVariableName=43
    DuplicateTextureName=44 DuplicateSurfaceName=45 DevicesUnavailable=46 IncompatibleDriverContext=49
    MissingConfiguration=52 LaunchMaxDepthExceeded=65 LaunchFileScopedTex=66 LaunchFileScopedSurf=67
    SyncDepthExceeded=68 LaunchPendingCountExceeded=69 InvalidDeviceFunction=98 NoDevice=100 InvalidDevice=101
    DeviceNotLicensed=102 SoftwareValidityNotEstablished=103 StartupFailure=127 InvalidKernelImage=200
    DeviceUninitialized=201 MapBufferObjectFailed=205 UnmapBufferObjectFailed=206 ArrayIsMapped=207
    AlreadyMapped=208 NoKernelImageForDevice=209 AlreadyAcquired=210 NotMapped=211 NotMappedAsArray=212
    NotMappedAsPointer=213 ECCUncorrectable=214 UnsupportedLimit=215 DeviceAlreadyInUse=216
    PeerAccessUnsupported=217 InvalidPtx=218 InvalidGraphicsContext=219 NvlinkUncorrectable=220
    JitCompilerNotFound=221 UnsupportedPtxVersion=222 JitCompilationDisabled=223 UnsupportedExecAffinity=224
    InvalidSource=300 FileNotFound=301 SharedObjectSymbolNotFound=302 SharedObjectInitFailed=303 OperatingSystem=304
    InvalidResourceHandle=400 IllegalState=401 SymbolNotFound=500 NotReady=600 IllegalAddress=700
    LaunchOutOfResources=701 LaunchTimeout=702 LaunchIncompatibleTexturing=703 PeerAccessAlreadyEnabled=704
    PeerAccessNotEnabled=705 SetOnActiveProcess=708 ContextIsDestroyed=709 Assert=710 TooManyPeers=711
    HostMemoryAlreadyRegistered=712 HostMemoryNotRegistered=713 HardwareStackError=714 IllegalInstruction=715
    MisalignedAddress=716 InvalidAddressSpace=717 InvalidPc=718 LaunchFailure=719 CooperativeLaunchTooLarge=720
    NotPermitted=800 NotSupported=801 SystemNotReady=802 SystemDriverMismatch=803 CompatNotSupportedOnDevice=804
    MpsConnectionFailed=805 MpsRpcFailure=806 MpsServerNotReady=807 MpsMaxClientsReached=808
    MpsMaxConnectionsReached=809 MpsClientTerminated=810 CdpNotSupported=811 CdpVersionMismatch=812
    StreamCaptureUnsupported=900 StreamCaptureInvalidated=901 StreamCaptureMerge=902 StreamCaptureUnmatched=903
    StreamCaptureUnjoined=904 StreamCaptureIsolation=905 StreamCaptureImplicit=906 CapturedEvent=907
    StreamCaptureWrongThread=908 Timeout=909 GraphExecUpdateFailure=910 ExternalDevice=911 InvalidClusterSize=912
    Unknown=999
""")
cudaSuccess = 0


class cudaError(CudaCallError):
    """A call of CUDA's runtime failed; `value` is the code."""


globals().update(error_names(cudaError, "cudaError", _CODES, lambda name: f"cudaError_{name}", __name__))


def _files() -> Iterator[str]:
    yield "libcudart.so"
    for folder in (*(os.environ.get(name, "") for name in ("CUDA_PATH", "CUDA_HOME", "CUDA_ROOT")), "/usr/local/cuda"):
        if os.path.isdir(folder):
            yield from (os.path.join(folder, lib, "libcudart.so") for lib in ("lib64", "lib"))


_library = CudaLibrary(_files, cudaError, absent=_CODES["InitializationError"], unknown=_CODES["SymbolNotFound"])


def cudaExceptionClass(cudaErrorCode: int, /) -> type[CudaCallError]:
    """The class of the errors with a code."""
    return exception_class(cudaError, cudaErrorCode)


def _word(name: str, error: int) -> str:
    import ctypes
    function = _library.function(name)
    function.restype = ctypes.c_char_p
    return (function(error) or b"").decode("utf-8", "replace")


def cudaGetErrorName(error: int) -> str:
    return _word("cudaGetErrorName", error)


def cuGetErrorString(error: int) -> str:
    return _word("cudaGetErrorString", error)


cudaError._describe = staticmethod(cuGetErrorString)


def cudaGetLastError() -> int:
    """The code of the last call that failed in this thread, which it then forgets."""
    return int(_library.function("cudaGetLastError")())


def cudaPeekAtLastError() -> int:
    return int(_library.function("cudaPeekAtLastError")())


def cudaDriverGetVersion() -> str:
    return _library.version("cudaDriverGetVersion")


def cudaRuntimeGetVersion() -> str:
    """As "12.8"."""
    return _library.version("cudaRuntimeGetVersion")


def cudaGetDeviceCount() -> int:
    return int(_library.number("cudaGetDeviceCount"))


def cudaDeviceGetByPCIBusId(pciBusId: str) -> int:
    return int(_library.number("cudaDeviceGetByPCIBusId", pciBusId.encode()))


def cudaDeviceGetPCIBusId(device: int) -> str:
    return _library.text("cudaDeviceGetPCIBusId", device)


def is_available() -> bool:
    """Whether CUDA sees a device."""
    try:
        return cudaGetDeviceCount() > 0
    except cudaError:
        return False


__all__ = [name for name in globals() if name.startswith(("cuda", "cu"))]
