"""What tutorials measure and compare with."""
import sys
import time


def assert_close(actual, expected, atol=None, rtol=None, err_msg=""):
    import numpy
    a, b = (x.detach().cpu().float().numpy() if hasattr(x, "detach") else numpy.asarray(x) for x in (actual, expected))
    numpy.testing.assert_allclose(a, b, atol=1e-2 if atol is None else atol, rtol=0 if rtol is None else rtol, err_msg=err_msg)


def _quantile(values, q):
    values = sorted(values)
    return values[min(int(q * len(values)), len(values) - 1)]


class _HostClock:
    """Runs by the host's clock."""

    def get_ahead(self, fn, before):
        pass

    def times(self, fn, runs, before):
        found = []
        for _ in range(runs):
            before()
            begin = time.perf_counter()
            fn()
            found.append((time.perf_counter() - begin) * 1e3)
        return found


class _Events:
    """Runs by a GPU's events. Before each, what is in the cache is overwritten, once or more often: so long that the host is ahead of the GPU.
    Else it would be the launch that is timed."""

    MOST_OVERWRITTEN = 32  # times, 2 ms of an H200

    def __init__(self, torch):
        self.torch, self.cache, self.overwritten = torch, torch.empty(1 << 28, dtype=torch.int8, device="cuda"), 1

    def event(self):
        return self.torch.cuda.Event(enable_timing=True)

    def get_ahead(self, fn, before):
        """Finds how often."""
        needs = []
        for _ in range(3):
            before()
            self.torch.cuda.synchronize()
            begin, end = self.event(), self.event()
            begin.record()
            self.cache.zero_()
            end.record()
            start = time.perf_counter()
            fn()
            host = (time.perf_counter() - start) * 1e3
            self.torch.cuda.synchronize()
            needs.append(2 * host / max(begin.elapsed_time(end), 1e-3))
        self.overwritten = min(1 + int(min(needs)), self.MOST_OVERWRITTEN)

    def times(self, fn, runs, before):
        pairs = [(self.event(), self.event()) for _ in range(runs)]
        for begin, end in pairs:
            before()
            for _ in range(self.overwritten):
                self.cache.zero_()
            begin.record()
            fn()
            end.record()
        self.torch.cuda.synchronize()
        return [begin.elapsed_time(end) for begin, end in pairs]


def run_times(fn, warmup, rep, before=lambda: None):
    """Milliseconds of each fn(), over about `rep` ms of runs behind `warmup` ms of them: the GPU's where torch has one, else the host's.
    before() is called in front of each, and not timed."""
    torch = sys.modules.get("torch")
    clock = _Events(torch) if torch is not None and torch.cuda.is_available() else _HostClock()
    before()
    fn()
    clock.get_ahead(fn, before)
    once = max(sum(clock.times(fn, 5, before)) / 5, 1e-3)
    clock.times(fn, min(int(warmup / once), 1000), before)
    return clock.times(fn, max(1, min(int(rep / once), 10000)), before)


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """Milliseconds of fn(), as run_times takes them: the mean, or another of "min", "max", "median", "all"; or their quantiles."""
    def forget_gradients():
        for x in grad_to_none or ():
            x.grad = None

    times = run_times(fn, warmup, rep, forget_gradients)
    if quantiles is not None:
        found = [_quantile(times, q) for q in quantiles]
        return found[0] if len(found) == 1 else found
    return {"mean": sum(times) / len(times), "min": min(times), "max": max(times), "median": _quantile(times, 0.5),
            "all": times}[return_mode]


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    """As do_bench, but of a CUDA graph of fn(): what it takes the host to launch does not count."""
    import torch
    with torch.cuda.stream(torch.cuda.Stream()):
        fn()  # nothing compiles while a stream is captured
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            fn()
        return do_bench(graph.replay, 0, rep, grad_to_none, quantiles, return_mode)


class Benchmark:
    """Values along an axis, and the lines of a plot."""

    def __init__(self, x_names, x_vals, line_arg, line_vals, line_names, plot_name, args, xlabel="", ylabel="", x_log=False,
                 y_log=False, styles=None):
        self.__dict__.update((k, v) for k, v in locals().items() if k != "self")


class Mark:
    def __init__(self, fn, benchmarks):
        self.fn, self.benchmarks = fn, benchmarks

    def run(self, show_plots=False, print_data=False, save_path="", return_df=False, **kwargs):
        """Prints a table for each benchmark; there are no plots."""
        for b in self.benchmarks if isinstance(self.benchmarks, (list, tuple)) else [self.benchmarks]:
            print(b.plot_name + ":")
            print("  ".join("%12s" % n for n in list(b.x_names) + list(b.line_names)))
            for x in b.x_vals:
                xs = x if isinstance(x, (list, tuple)) else [x] * len(b.x_names)
                row = [self.fn(**dict(zip(b.x_names, xs)), **{b.line_arg: line}, **b.args, **kwargs) for line in b.line_vals]
                print("  ".join("%12s" % v for v in xs) + "  " + "  ".join("%12.4g" % (v[0] if isinstance(v, tuple) else v) for v in row))


def perf_report(benchmarks):
    return lambda fn: Mark(fn, benchmarks)
