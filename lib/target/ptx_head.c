/* The comments at the head of PTX: what somebody who launches it without this library has to know,
   beside the text that needs it.

   A name of the language may hold letters that PTX, which is ASCII, has not: each is shown as
   '?'. */
#include "target/nvptx.h"

#include "ir/machine.h"
#include "ir/type.h"

/* What a launch gets without asking for more (CUDA's programming guide, dynamic shared memory). */
enum { FREE_SHARED = 48 * 1024 };

static void put_ascii(Buf *out, const char *name)
{
    for (; *name; name++)
        if ((*name & 0xc0) != 0x80) /* not inside a letter of several bytes */
            buf_putc(out, (unsigned char)*name < 128 ? *name : '?');
}

static void put_shared(Buf *out, uint32_t bytes)
{
    buf_printf(out, "// dynamic shared memory: %u bytes\n", bytes);
    if (bytes > FREE_SHARED)
        buf_printf(out,
                   "//   more than %d: set CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES of the "
                   "function first\n",
                   FREE_SHARED);
}

static void put_param(Buf *out, int i, const Param *p)
{
    buf_printf(out, "//   %d ", i);
    put_ascii(out, p->name);
    buf_puts(out, ": ");
    buf_puts(out, type_signature(out->arena, p->type));
    if (p->divisibility > 1)
        buf_printf(out, ", a multiple of %lld%s", (long long)p->divisibility,
                   type_is_pointer(p->type) ? " bytes" : "");
    buf_putc(out, '\n');
}

void ptx_head(Buf *out, const Func *fn, const char *symbol, uint32_t shared_bytes)
{
    buf_printf(out, "// tkc %s, kernel ", tkc_version());
    buf_puts(out, symbol);
    buf_printf(out, "\n// threads of a block: %d x 1 x 1 (%d warps); blocks: one for each program\n",
               fn->num_warps * MACHINE_LANES, fn->num_warps);
    put_shared(out, shared_bytes);
    buf_puts(out, "// scratch memory: none\n");
    buf_printf(out, "// parameters: %d\n", fn->nparams);
    for (int i = 0; i < fn->nparams; i++) put_param(out, i, &fn->params[i]);
}
