"""triton.runtime.driver: which device host code is on."""
from .. import _launch
from .._ahead import GPUTarget


class _Utils:
    @staticmethod
    def get_device_properties(ordinal):
        """Of a GPU what its driver says; where there is none, of one program at a time."""
        import torch
        if ordinal is not None and torch.cuda.is_available():
            p = torch.cuda.get_device_properties(ordinal)
            return {"multiprocessor_count": p.multi_processor_count, "max_num_regs": 65536, "warpSize": 32,
                    "max_shared_mem": getattr(p, "shared_memory_per_block_optin", 48 << 10)}
        return {"multiprocessor_count": 1, "max_num_regs": 65536, "warpSize": 32, "max_shared_mem": 227 << 10}


class _Active:
    utils = _Utils()

    @staticmethod
    def get_active_torch_device():
        import torch
        return torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else torch.device("cpu")

    @staticmethod
    def get_current_target():
        import torch
        if torch.cuda.is_available():
            major, minor = torch.cuda.get_device_capability()
            return GPUTarget("cuda", major * 10 + minor, 32)
        return GPUTarget("cpu", _launch.host_device(), 32)

    @staticmethod
    def get_current_device():
        return _launch.current_ordinal()

    @staticmethod
    def get_current_stream(ordinal=None):
        return _launch.current_stream(ordinal or 0)


class driver:
    active = _Active()
