/* PTX texts that the emulator's reader refuses: the statement, and the words it does that with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "simt/module.h"

static Memory *memory;

/* What is wrong with the text, "" when it loads. */
static const char *problem_of(const char *text, int chip)
{
    static char problem[400];
    *problem = 0;
    SimtModule *m = simt_module_load(text, chip, memory, problem, sizeof problem);
    EXPECT(!m == (*problem != 0));
    if (m)
        simt_module_free(m);
    return problem;
}

typedef struct Row { const char *text, *problem; } Row;

/* Statements of a module; the text begins in line 4. */
static const Row of_modules[] = {
    {".global .b32 g[4] = {1, -2, {3, 4}};", ""},
    {".global .b64 a; .global .b64 b = generic(a)+8;", ""},
    {"5", "line 4: expected a directive, found '5'"},
    {".bogus", "line 4: '.bogus' is not known here"},
    {"", "line 3: there is no kernel in the text"},
    {".address_size 32", "line 4: addresses have 64 bits here"},
    {".target sm_100", "line 4: the text is for sm_100; this device is sm_90"},
    {".target sm_80a", "line 4: the text is for sm_80a; this device is sm_90"},
    {".pragma 3;", "line 4: expected a string, found '3'"},
    {".file x", "line 4: expected a number, found 'x'"},
    {".section .debug_info { .b8 1", "line 4: '}' is missing at the end"},
    {".func f() { ret;", "line 4: '}' is missing at the end"},
    {".global .b32 g[2] = {1, 2, 3};", "line 4: too many values for 'g'"},
    {".global .b32 g = +;", "line 4: expected a value, found '+'"},
    {".global .b32 g = h;", "line 4: 'h' is no value to begin with"},
    {".shared .b32 s; .global .b64 g = s;", "line 4: 's' is no value to begin with"},
    {".shared .b32 s = 1;", "line 4: only .global and .const variables have values to begin with"},
    {".global .b32 g[65536][65536];", "line 4: an array is too large"},
    {".shared .b64 s[2147483647];", "line 4: a variable of 17179869176 bytes is too large"},
    {".global .align 3 .b32 g;", "line 4: an alignment is a power of 2"},
    {".global .bogus .b32 g;", "line 4: '.bogus' is not known here"},
    {".global g;", "line 4: expected a type, found 'g'"},
    {".global .b32 5;", "line 4: expected a name, found '5'"},
    {".entry k(.global .b32 p) { ret; }", "line 4: expected '.param', found '.global'"},
    {".entry k(.param .bogus p) { ret; }", "line 4: '.bogus' is not known here"},
    {".entry k(.param .b32) { ret; }", "line 4: a parameter without type and name"},
    {".entry k(.param .b8 p[40000]) { ret; }", "line 4: more than 32764 bytes of parameters"},
    {".entry k() .bogus 3 { ret; }", "line 4: '.bogus' is not known here"},
    {".entry k() { ret;", "line 4: '}' is missing at the end"},
};

static void modules(void)
{
    char text[512];
    for (size_t i = 0; i < sizeof of_modules / sizeof *of_modules; i++) {
        snprintf(text, sizeof text, ".version 8.6\n.target sm_90a\n.address_size 64\n%s",
                 of_modules[i].text);
        EXPECT_STR(problem_of(text, 90), of_modules[i].problem);
    }
}

/* Statements of a kernel with a parameter p, registers and functions; the text is line 13. */
static const Row of_bodies[] = {
    {"mov.b32 %r1, 5;", ""},
    {"call.uni (l), f, (a);", ""},
    {"brx.idx %r1, list;", ""},
    {"barrier.cluster.arrive.release.aligned;", ""},
    {"barrier.cta.red.popc.aligned.u32 %r1, 0, %p1;", ""},
    {"redux.sync.add.s32 %r1, %r2, -1;", ""},
    {"createpolicy.fractional.L2::evict_first.b64 %rd1, 1.0;", ""},
    {"mov.b32 %r1, d;", ""},
    {";", "expected an instruction, found ';'"},
    {"mov.b32 %r1, 5;;", "expected an instruction, found ';'"},
    {"mov.b32 %r1, d+4;", "an offset from 'd' is not known before the launch"},
    {"ld.global.b32 %r1, [nowhere];", "'nowhere' is not known here"},
    {"ld.global.v2.b32 %r1, [%rd1];", "'ld.global.v2.b32' takes a list of 2 registers there"},
    {"ld.global.b32 %r1, [%rd1+x];", "expected a number, found 'x'"},
    {"ld.param.b64 %rd1, [p+8];", "the kernel has 8 bytes of parameters"},
    {"st.param.b64 [p], %rd1;", "parameter memory cannot be written"},
    {"st.const.b32 [c], %r1;", "constant memory cannot be written"},
    {"barrier.cta.red.popc.aligned.u32 %r1, 0;", "'barrier.cta.red.popc.aligned.u32' has other operands"},
    {"same: same: ret;", "the label 'same' stands twice"},
    {"bra 5;", "expected a label, found '5'"},
    {"bra nowhere;", "there is no label 'nowhere' (used in line 13)"},
    {"brx.idx %r1, nowhere;", "there is no list of targets 'nowhere'"},
    {".loc 1 2 3, bogus x;", "'bogus' is not known here"},
    {"call.uni g;", "the function 'g' has no code in the text"},
    {"call.uni behind;", ""},
    {"call.uni f, (a);", "'f' has 1 results and 1 parameters"},
    {"call.uni (l), f, (p);", "'p' cannot be passed to a function here"},
    {"call.uni (l), vprintf, (a);", "'vprintf' takes 2 arguments"},
    {"call.uni again;", "calls are nested deeper than 32, or recursive"},
    {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r1], 64;", "a tensor map has 128 bytes"},
    {"cp.async.ca.shared.global [%rd1], [%rd2], 3;", "a copy of 3 bytes"},
    {"setmaxnreg.inc.sync.aligned.u32 25;", "a count of registers is 24 to 256 by 8"},
};

static const char *problem_of_body(const char *line)
{
    static char text[1600];
    snprintf(text, sizeof text,
             ".version 8.6\n.target sm_90a\n.address_size 64\n"
             ".const .b32 c;\n.extern .shared .b8 d[];\n"
             ".func (.param .b32 r) f(.param .b32 x) { ret; }\n.func g(); .func behind();\n"
             ".func again() { call.uni again; }\n"
             ".entry k(.param .b64 p) {\n"
             ".reg .b32 %%r<4>; .reg .b64 %%rd<4>; .reg .pred %%p<4>;\n"
             ".param .b32 a; .param .b32 l;\n"
             "list: .branchtargets end;\n%s\nend: ret;\n}\n"
             ".func behind() { ret; }\n",
             line);
    return problem_of(text, 90);
}

static void bodies(void)
{
    for (size_t i = 0; i < sizeof of_bodies / sizeof *of_bodies; i++) {
        const char *got = problem_of_body(of_bodies[i].text), *said = strstr(got, ": ");
        if (*got && strncmp(got, "line ", 5))
            expect_failed(__FILE__, __LINE__, got);
        EXPECT_STR(said ? said + 2 : got, of_bodies[i].problem);
    }
}

/* The line is that of what is wrong. */
static void lines(void)
{
    EXPECT_STR(problem_of_body("mov.b32 %r1, 5;\nadd.s32 %r1,\n %r1, x;"),
               "line 15: 'x' names no register");
}

/* Each of the functions calls the one before twice, and so has twice its instructions. */
static void too_many_instructions(void)
{
    enum { CALLS = 15 };
    char text[4096] = ".version 8.6\n.target sm_90a\n.address_size 64\n.func f0() {\n", *end = text;
    for (int i = 0; i < 64; i++) strcat(text, "nanosleep.u32 5;\n");
    end += strlen(text);
    for (int i = 1; i <= CALLS; i++)
        end += sprintf(end, "}\n.func f%d() { call.uni f%d; call.uni f%d;\n", i, i - 1, i - 1);
    sprintf(end, "}\n.entry k() { call.uni f%d; ret; }", CALLS);
    EXPECT_STR(problem_of(text, 90),
               "line 5: more than 1048576 instructions with those of the functions called");
}

int main(void)
{
    memory = memory_new();
    RUN(modules);
    RUN(bodies);
    RUN(lines);
    RUN(too_many_instructions);
    memory_free(memory);
    return expect_done();
}
