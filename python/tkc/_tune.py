"""Choosing what is not the caller's to say: @tkc.autotune and @tkc.heuristics, as Triton's hosts write them."""
from . import _jit, _library, _quick, knobs, testing


PLAIN = {int, float, bool, str, type(None)}  # types of arguments that have no elements


class Config:
    """Values of constexprs, and options, that are tried together."""

    def __init__(self, kwargs, num_warps=None, num_stages=None, num_ctas=None, maxnreg=None, pre_hook=None, ir_override=None):
        self.kwargs, self.pre_hook = dict(kwargs), pre_hook
        self.num_warps, self.num_stages, self.num_ctas, self.maxnreg = num_warps, num_stages, num_ctas, maxnreg

    def all_kwargs(self):
        options = (("num_warps", self.num_warps), ("num_stages", self.num_stages), ("num_ctas", self.num_ctas), ("maxnreg", self.maxnreg))
        return {**self.kwargs, **{n: v for n, v in options if v is not None}}

    def __repr__(self):
        return "Config(%s)" % ", ".join("%s=%r" % item for item in self.all_kwargs().items())


class Wrapper(_jit.Launchable):
    def __init__(self, fn):
        self.fn, self.__name__, self.arg_names = fn, fn.__name__, fn.arg_names
        self.__doc__, self.__module__ = fn.__doc__, fn.__module__
        self.base_fn = getattr(fn, "base_fn", None) or fn.fn

    def named(self, args, kwargs):
        if len(args) > len(self.arg_names):
            raise TypeError("%s() takes %d arguments, and %d were given" % (self.__name__, len(self.arg_names), len(args)))
        return {**dict(zip(self.arg_names, args)), **kwargs}


class Heuristics(Wrapper):
    """Values that follow from the arguments: {"EVEN": lambda args: args["n"] % args["BLOCK"] == 0}."""

    def __init__(self, fn, values):
        super().__init__(fn)
        self.values = values

    def _run(self, grid, /, *args, **kwargs):
        named = self.named(args, kwargs)
        for name, rule in self.values.items():
            if name not in named:
                named[name] = rule(dict(named))
        return self.fn[grid](**named)


class Autotuner(*_quick.BASES, Wrapper):
    """The fastest of the configurations, for each value of the key's arguments and the types of the arrays. Where arrays are in host
    memory nothing is measured, as it would say nothing of a GPU: the first one that is left after pruning is taken."""

    def __init__(self, fn, configs, key, prune_configs_by=None, reset_to_zero=None, restore_value=None, pre_hook=None, post_hook=None,
                 warmup=None, rep=None, do_bench=None):
        super().__init__(fn)
        self.configs, self.keys = list(configs) or [Config({})], list(key or ())
        self.prune = prune_configs_by or {}
        self.reset_to_zero, self.restore_value = list(reset_to_zero or ()), list(restore_value or ())
        self.pre_hook, self.post_hook = pre_hook, post_hook
        self.num_warmups, self.num_reps = 10 if warmup is None else warmup, 40 if rep is None else rep  # milliseconds
        self.do_bench = do_bench
        self.cache = {}
        self.plans = []  # for _quick
        self.key_places = [(self.arg_names.index(k) if k in self.arg_names else len(self.arg_names), k) for k in self.keys]
        self.best_config = None

    def _run(self, grid, /, *args, **kwargs):
        key, by_position = self.key_of(args, kwargs), self.arg_names[:len(args)]
        config = self.configs[0] if len(self.configs) == 1 else self.cache.get(key)
        if config and not config.pre_hook:  # what most launches are
            more = config.all_kwargs()
            if more.keys().isdisjoint(kwargs) and more.keys().isdisjoint(by_position):
                self.best_config = config
                kernel = self.fn[grid](*args, **kwargs, **more)
                if isinstance(self.fn, _jit.Jit) and kernel is not None and kernel.is_quick():
                    self.remember(kernel, args, kwargs, key, config)
                return kernel
        named = self.named(args, kwargs)
        self.best_config = config = config or self.choose(grid, named, key, by_position)
        return self.launch(grid, named, config)

    def remember(self, kernel, args, kwargs, key, config):
        """The next launch with this key goes the short way."""
        jit, signature, gives = self.fn, self.fn._signature()[0], {n for c in self.configs for n in c.kwargs}
        if self not in jit.tuners:
            self.plans = _quick.begin(self, ([(n, _quick.GIVEN if n in gives else default) for n, default in signature], False), _jit.MISSING)
            jit.tuners.add(self)
        named = self.named(args, kwargs)
        values = [{**dict(signature), **config.kwargs, **named}[p.name] for p in jit.params]
        left = gives - named.keys()
        fixed = {i: _quick.GIVEN if p.name in left else values[i] for i, p in enumerate(jit.params) if p.name in self.keys or p.name in left}
        options = {n: v for n, v in kwargs.items() if n not in self.arg_names and v is not None}
        chosen = (self.__dict__, "cache", self.cache, self.cache, key, config)
        depends = chosen if len(self.configs) > 1 else (self.__dict__, "configs", self.configs)
        kinds = _jit.kinds_of(jit, values)
        if all(kinds[i] not in "TD" for i in fixed):
            _quick.teach_tuner(self, kernel, kinds, values, options, fixed, config, depends)

    def warmup(self, *args, grid=(1,), **kwargs):
        """Compiles what is left of the configurations after pruning, and launches nothing."""
        configs = self.pruned(self.named(args, kwargs), self.arg_names[:len(args)])
        return [self.fn.warmup(*args, grid=grid, **kwargs, **c.all_kwargs()) for c in configs]

    def key_of(self, args, kwargs):
        n = len(args)
        return (*[args[i] if i < n else kwargs.get(k) for i, k in self.key_places],
                *[v.dtype for v in args if type(v) not in PLAIN and hasattr(v, "dtype")],
                *[v.dtype for v in kwargs.values() if type(v) not in PLAIN and hasattr(v, "dtype")])

    def launch(self, grid, named, config):
        if not named.keys().isdisjoint(config.kwargs):
            twice = next(n for n in config.kwargs if n in named)
            raise ValueError("%s(): '%s' is given, and the configurations of @autotune give it, too" % (self.__name__, twice))
        full = {**named, **config.all_kwargs()}
        if config.pre_hook:
            config.pre_hook(full)
        return self.fn[grid](**full)

    def choose(self, grid, named, key, by_position):
        configs = self.pruned(named, by_position)
        config = self.cache[key] = self.fastest(grid, named, configs) if on_gpu(named) and len(configs) > 1 else configs[0]
        if knobs.autotuning.print:
            print("tkc: %s(): @autotune takes %r" % (self.__name__, config))
        return config

    def pruned(self, named, by_position):
        """As Triton's pruning has it: what was given by position as a dictionary, the rest by keywords."""
        first = {n: named[n] for n in by_position}
        rest = {n: v for n, v in named.items() if n not in first}
        configs = self.configs
        early, model, top = (self.prune.get(n) for n in ("early_config_prune", "perf_model", "top_k"))
        if early:
            configs = list(early(configs, first, **rest))
            if not configs:
                raise _library.Error("%s(): early_config_prune left no configuration" % self.__name__)
        if model and top is not None:
            top = int(len(configs) * top) if isinstance(top, float) and top <= 1 else top
            configs = sorted(configs, key=lambda c: model(**{**named, **c.all_kwargs()}))[:max(top, 1)]
        return configs

    def fastest(self, grid, named, configs):
        best, best_time, refused = None, None, None
        for config in configs:
            try:
                took = self.measure(grid, named, config)
            except (_library.KernelError, _library.DeviceError, ValueError) as e:
                refused = e
                continue
            if best is None or took < best_time:
                best, best_time = config, took
        if best is None:
            raise refused
        self.reset(named)
        return best

    def reset(self, named):
        for name in self.reset_to_zero:
            if named.get(name) is not None:
                named[name].zero_()

    def measure(self, grid, named, config):
        """Milliseconds of one launch, the median of some."""
        saved = {n: named[n].clone() for n in self.restore_value if named.get(n) is not None}
        full = {**named, **config.all_kwargs()}

        def prepare():
            for name, value in saved.items():
                named[name].copy_(value)
            self.reset(named)
            if self.pre_hook:
                self.pre_hook(full)

        def run():
            failed = None
            try:
                self.launch(grid, named, config)
            except Exception as e:
                failed = e
                raise
            finally:
                if self.post_hook:
                    self.post_hook(full, exception=failed)

        if self.do_bench:
            found = self.do_bench(lambda: (prepare(), run()), quantiles=(0.5, 0.2, 0.8))
            found = found[0] if isinstance(found, (list, tuple)) else found
        else:
            times = sorted(testing.run_times(run, self.num_warmups, self.num_reps, prepare))
            found = times[len(times) // 2]
        for name, value in saved.items():
            named[name].copy_(value)
        return found


def on_gpu(named):
    return any(getattr(getattr(v, "base", v), "is_cuda", False) for v in named.values())  # a descriptor's is that of its tensor


WRAPPERS = (Heuristics, Autotuner)


def autotune(configs, key, prune_configs_by=None, reset_to_zero=None, restore_value=None, pre_hook=None, post_hook=None, warmup=None,
             rep=None, use_cuda_graph=False, do_bench=None, cache_results=False):
    """Decorator of a kernel that has several configurations. warmup, rep: milliseconds of each that are not and that are measured; do_bench: what measures instead."""
    return lambda fn: Autotuner(fn, configs, key, prune_configs_by, reset_to_zero, restore_value, pre_hook, post_hook, warmup, rep, do_bench)


def heuristics(values):
    """Decorator of a kernel of which some values follow from others."""
    return lambda fn: Heuristics(fn, values)


def of_triton(fn, python, options):
    """A jit function of Triton's, with its autotuner and heuristics, as one of ours."""
    if type(fn).__name__ == "JITFunction" or not hasattr(fn, "fn"):
        made = _jit.JitFunction(python, options)
        made._unspecialize(getattr(fn, "do_not_specialize", None), getattr(fn, "do_not_specialize_on_alignment", None))
        made.launch_metadata = getattr(fn, "launch_metadata", None)
        return made
    inner = of_triton(fn.fn, python, options)
    if hasattr(fn, "configs"):
        configs = [Config(c.kwargs, c.num_warps, c.num_stages, c.num_ctas, c.maxnreg, c.pre_hook) for c in fn.configs]
        prune = {"early_config_prune": getattr(fn, "early_config_prune", None), "perf_model": getattr(fn, "perf_model", None),
                 "top_k": getattr(fn, "configs_top_k", None)}
        return Autotuner(inner, configs, fn.keys, prune, fn.reset_to_zero, fn.restore_value,
                         fn.pre_hook if getattr(fn, "user_defined_pre_hook", False) else None,
                         fn.post_hook if getattr(fn, "user_defined_post_hook", False) else None)
    if hasattr(fn, "values"):
        return Heuristics(inner, fn.values)
    return inner
