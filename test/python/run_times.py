# What a run is timed as does not depend on how long it takes the host to launch it: on a GPU that is a clock beside the host's.
# RUN: %tkc-python %s | FileCheck %s
import sys
import time
import types

host, gpu = [0.0], [0.0]  # ms


def enqueue(takes_host, takes_gpu):
    host[0] += takes_host
    gpu[0] = max(gpu[0], host[0]) + takes_gpu


class Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        enqueue(0.002, 0)
        self.at = gpu[0]

    def elapsed_time(self, later):
        return later.at - self.at


torch = types.ModuleType("torch")
torch.int8 = "int8"
torch.empty = lambda n, dtype, device: types.SimpleNamespace(zero_=lambda: enqueue(0.004, 0.06))
torch.cuda = types.SimpleNamespace(is_available=lambda: True, Event=Event, synchronize=lambda: host.__setitem__(0, max(host[0], gpu[0])))
sys.modules["torch"] = torch
time.perf_counter = lambda: host[0] / 1e3
from tkc import testing

# CHECK: launched in 0.01 ms: 0.100
# CHECK: launched in 0.25 ms: 0.100
for launch in 0.01, 0.25:
    times = sorted(testing.run_times(lambda: enqueue(launch, 0.1), 10, 40, lambda: enqueue(0.05, 0)))
    print(f"launched in {launch} ms: {times[len(times) // 2]:.3f}")
# A launch that the GPU would have to wait for too long is not waited for.
# CHECK: launched in 50 ms: 4{{[0-9]}}.
print(f"launched in 50 ms: {testing.run_times(lambda: enqueue(50, 0.1), 10, 40)[0]:.3f}")
