/* A complaint about a line of PTX, brought back to the kernel's inline assembly. */
#include "ptx/ptx.h"

#include "expect.h"

static const char ptx[] = ".version 8.0\n"
                          "\t// begin inline asm\n"
                          "\tld.global.b32 %r1, [%rd1];\n"
                          "\t// end inline asm\n"
                          "\t// begin inline asm\n"
                          "\t// a dir/k.tk:12:9\n"
                          "\t{\n"
                          "\tfoo.b32 %r2, %r1;\n"
                          "\t}\n"
                          "\t// end inline asm\n"
                          "\tret;\n";

static void inside(void)
{
    char place[64] = "";
    EXPECT(ptx_log_place(place, sizeof place,
                         "ptxas application ptx input, line 8; error   : Not a name of any known "
                         "instruction: 'foo'\nptxas application ptx input, line 1; error",
                         ptx));
    EXPECT_STR(place, "a dir/k.tk:12:9");
}

static void of_the_emulator(void)
{
    char place[64] = "";
    EXPECT(ptx_log_place(place, sizeof place, "line 8: the instruction 'foo' is not known here", ptx));
    EXPECT_STR(place, "a dir/k.tk:12:9");
}

static void elsewhere(void)
{
    char place[64];
    static const char *const logs[] = {"input, line 3; error", "input, line 1; error",
                                       "input, line 11; error", "input, line 400; error", ""};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
        EXPECT(!ptx_log_place(place, sizeof place, logs[i], ptx));
}

int main(void)
{
    RUN(inside);
    RUN(of_the_emulator);
    RUN(elsewhere);
    return expect_done();
}
