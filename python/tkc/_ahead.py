"""triton.compile: a kernel for types that are written down, {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}, and a target. It makes code
and launches nothing."""
import ctypes

from . import _launch, _library, _source

PTX, IR = 6, 2  # of TkcEmit


class GPUTarget:
    """GPUTarget("cuda", 90, 32)."""

    def __init__(self, backend, arch, warp_size=32):
        self.backend, self.arch, self.warp_size = backend, arch, warp_size

    def __eq__(self, other):
        return (self.backend, self.arch) == (getattr(other, "backend", None), getattr(other, "arch", None))

    def __hash__(self):
        return hash((self.backend, self.arch))

    def __repr__(self):
        return "GPUTarget(backend=%r, arch=%r, warp_size=%r)" % (self.backend, self.arch, self.warp_size)


class ASTSource:
    """A kernel and what is known of its arguments. constexprs: values by name, or by position. attrs: {(position,): [["tt.divisibility",
    16]]}."""

    def __init__(self, fn, signature, constexprs=None, attrs=None):
        names = fn.arg_names
        by_name = lambda key: key if isinstance(key, str) else names[key[0] if isinstance(key, tuple) else key]
        self.fn, self.name = fn, fn.__name__
        self.signature = {by_name(k): v for k, v in signature.items()}
        self.constants = {by_name(k): v for k, v in (constexprs or {}).items()}
        self.attrs = {by_name(k): v for k, v in (attrs or {}).items()}
        for name in list(self.signature) + list(self.constants):
            if name not in names:
                raise ValueError("%s has no parameter '%s'; it has %s" % (self.name, name, ", ".join(names)))

    def types(self):
        """As TkcOptions.signature has it."""
        said = []
        for name, type in self.signature.items():
            if type != "constexpr" and name not in self.constants:
                by = [str(value) for word, value in self.attrs.get(name, ()) if word == "tt.divisibility"]
                said.append(":".join(["%s=%s" % (name, type)] + by))
        return ",".join(said)


class Compiled:
    """asm["ptx"], and what a launcher needs to know."""

    def __init__(self, lib, artifact, source, target):
        self.src, self.target = source, target
        text = lib.tkc_artifact_text(artifact, None).decode()
        self.asm = _launch.Code(ptx=text)
        self.metadata = _launch.Metadata(name=lib.tkc_artifact_kernel(artifact).decode(), num_warps=lib.tkc_artifact_num_warps(artifact),
                                         num_stages=lib.tkc_artifact_num_stages(artifact), num_ctas=1, target=target,
                                         shared=lib.tkc_artifact_shared_bytes(artifact))
        self.name = self.metadata.name


ARCHES = {90: "sm_90a", 100: "sm_100a", 120: "sm_120a"}  # with what Triton takes for granted there


def compile(src, target=None, options=None):
    """The code of an ASTSource for a GPUTarget; without one, of the GPU that torch has, or of sm_80."""
    from . import runtime
    if not isinstance(src, ASTSource):
        raise TypeError("tkc.compile takes an ASTSource, not an object of type %s" % type(src).__name__)
    target = target or runtime.driver.active.get_current_target()
    if target.backend not in ("cuda", "cpu"):
        raise ValueError("tkc compiles for CUDA, not for '%s'" % target.backend)
    from . import _jit
    given = _launch.Given([], {}, src.fn.unspecialized)
    for name, value in src.constants.items():
        given.define(name, value)
    options = {**src.fn.defaults, **(options or {})}
    _jit.check_options(src.name, options)
    context, source, kernel = src.fn._open(given)
    o = _launch.make_options(context, kernel, given.defines, options)
    o.signature = src.types().encode()
    arch = target.arch if target.backend == "cuda" else 80
    o.arch = (ARCHES.get(arch, "sm_%s" % arch) if isinstance(arch, int) else str(arch)).encode()
    out = context.made(lambda *a: context.lib.tkc_compile(source, ctypes.byref(o), PTX, *a), context.lib.tkc_artifact_free)
    return Compiled(context.lib, out, src, target)
