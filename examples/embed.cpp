// tkc inside a C++ program: what the library hands out is owned by unique_ptr, its errors become exceptions.
//
//     c++ -std=c++17 embed.cpp $(pkg-config --cflags --libs tkc) -o embed && ./embed
//
// Scales an array on the GPU if there is one, else on the CPU; "./embed cpu" asks for one of them.
#include <array>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <tkc/runtime.h>

namespace {

constexpr std::string_view kernel = R"(
import triton
import triton.language as tl

@triton.jit
def scale(x: '*fp32', by: 'fp32', n: 'i32', BLOCK: tl.constexpr = 256):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, at < n) * by, at < n)
)";

template <auto Free> struct Deleter {
    template <class T> void operator()(T *p) const { Free(p); }
};
using Context = std::unique_ptr<TkcContext, Deleter<tkc_context_free>>;
using Source = std::unique_ptr<TkcSource, Deleter<tkc_source_free>>;
using Device = std::unique_ptr<TkcDevice, Deleter<tkc_device_free>>;
using Jit = std::unique_ptr<TkcJit, Deleter<tkc_jit_free>>;

void must(const Context &cx, TkcStatus status)
{
    if (status != TKC_OK)
        throw std::runtime_error(tkc_last_error(cx.get()));
}

void run(const char *where)
{
    const Context cx(tkc_context_new());
    TkcDevice *device = nullptr;
    must(cx, tkc_device_open(cx.get(), where, 0, &device));
    const Device owned_device(device);
    TkcSource *source = nullptr;
    must(cx, tkc_source_from_text(cx.get(), "scale.tk", kernel.data(), kernel.size(), TKC_LANGUAGE_TK, &source));
    const Source owned_source(source);
    TkcOptions options;
    tkc_options_init(&options);
    TkcJit *jit = nullptr;
    must(cx, tkc_jit_new(device, source, &options, &jit));
    const Jit owned_jit(jit);

    std::vector<float> host(1000, 1.5f);
    const std::size_t bytes = host.size() * sizeof host[0];
    TkcPtr x = 0;
    must(cx, tkc_alloc(device, bytes, &x));
    must(cx, tkc_copy_in(device, x, host.data(), bytes));
    const std::array<int64_t, 3> grid = {4, 1, 1};
    const std::array<TkcArg, 4> args = {tkc_pointer(nullptr, x, bytes), tkc_float(2), tkc_int(1000), tkc_constexpr(nullptr)};
    must(cx, tkc_launch(jit, grid.data(), nullptr, args.data(), args.size()));
    must(cx, tkc_copy_out(device, host.data(), x, bytes));
    must(cx, tkc_free(device, x));
    std::cout << "tkc " << tkc_version() << ", device " << tkc_device_kind(device) << ": 1.5 * 2 = " << host.back() << "\n";
}

} // namespace

int main(int argc, char **argv)
try {
    run(argc > 1 ? argv[1] : nullptr);
} catch (const std::exception &error) {
    std::cerr << error.what();
    return 1;
}
