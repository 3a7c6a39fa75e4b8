/* -explain: the kernel's lines with what they cost (TKC_EMIT_EXPLAIN), then the registers that the
   assembler gives a thread: ptxas where there is one, else the driver of a GPU of that target. */
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "command.h"

extern char **environ;

typedef struct Assembled {
    int registers, spill_bytes;
} Assembled;

/* "sm_90a", behind .target */
static void read_target(const char *ptx, char *target, size_t size)
{
    const char *at = strstr(ptx, "\n.target ");
    const char *name = at ? at + strlen("\n.target ") : "";
    snprintf(target, size, "%.*s", (int)strcspn(name, ", \n"), name);
}

/* ptxas reads its standard input when that is what it is told to open. */
static bool run_ptxas(FILE *in, FILE *out, char *target)
{
    char *argv[] = {"ptxas", "-v", "-arch", target, "-o", "/dev/null", "/dev/stdin", NULL};
    posix_spawn_file_actions_t files;
    pid_t pid;
    int status = -1;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, fileno(in), 0);
    posix_spawn_file_actions_adddup2(&files, fileno(out), 1);
    posix_spawn_file_actions_adddup2(&files, fileno(out), 2);
    const bool runs = posix_spawnp(&pid, "ptxas", &files, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&files);
    return runs && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* What -v says: "Used 27 registers, …", "…, 8 bytes spill stores, 8 bytes spill loads". */
static bool read_report(FILE *out, Assembled *a)
{
    char line[512];
    bool found = false;
    for (rewind(out); fgets(line, sizeof line, out);) {
        const char *used = strstr(line, "Used "), *frame = strstr(line, "stack frame, ");
        int stores, loads;
        if (used && sscanf(used, "Used %d registers", &a->registers) == 1) found = true;
        if (frame && sscanf(frame, "stack frame, %d bytes spill stores, %d bytes spill loads",
                            &stores, &loads) == 2)
            a->spill_bytes = stores > loads ? stores : loads;
    }
    return found;
}

static bool ask_ptxas(const char *ptx, size_t len, char *target, Assembled *a)
{
    FILE *in = tmpfile(), *out = tmpfile();
    bool ok = in && out && fwrite(ptx, 1, len, in) == len && fflush(in) == 0 &&
              fseek(in, 0, SEEK_SET) == 0 && run_ptxas(in, out, target) && read_report(out, a);
    if (in) fclose(in);
    if (out) fclose(out);
    return ok;
}

static bool ask_driver(TkcContext *cx, const TkcArtifact *ptx, const char *target, Assembled *a)
{
    TkcDevice *dev = command_gpu(cx);
    TkcKernelInfo info = {.size = sizeof info};
    tkc_context_on_diagnostic(cx, NULL, NULL); /* one that refuses it is as good as none */
    const bool ok = dev && !strcmp(tkc_device_arch(dev), target) &&
                    tkc_device_inspect(dev, ptx, &info) == TKC_OK;
    *a = (Assembled){info.registers, info.spill_bytes};
    tkc_device_free(dev);
    report_listen(cx);
    return ok;
}

static void print_registers(TkcContext *cx, const TkcArtifact *ptx)
{
    char target[32];
    size_t len;
    const char *text = tkc_artifact_text(ptx, &len), *who = "ptxas";
    Assembled a = {0};
    read_target(text, target, sizeof target);
    bool known = ask_ptxas(text, len, target, &a);
    if (!known) {
        who = "the driver";
        known = ask_driver(cx, ptx, target, &a);
    }
    if (known)
        printf("\n%d registers a thread, %d bytes spilled, says %s\n", a.registers, a.spill_bytes,
               who);
    else
        printf(
            "\nregisters and spills are not known: there is no ptxas on PATH, and no GPU, for %s\n",
            target);
}

int command_explain(TkcContext *cx, Options *o)
{
    char arch[16];
    TkcArtifact *ptx = NULL, *lines = NULL;
    TkcSource *source = command_source(cx, o);
    if (!source) return EXIT_REFUSED;
    if (!o->compile.arch) o->compile.arch = command_default_arch(cx, arch, sizeof arch);
    TkcStatus status = tkc_compile(source, &o->compile, TKC_EMIT_PTX, &ptx);
    if (status == TKC_OK) {
        tkc_context_on_diagnostic(cx, NULL, NULL); /* all was said */
        status = tkc_compile(source, &o->compile, TKC_EMIT_EXPLAIN, &lines);
        report_listen(cx);
    }
    if (status == TKC_OK) {
        fputs(tkc_artifact_text(lines, NULL), stdout);
        print_registers(cx, ptx);
    }
    tkc_artifact_free(lines);
    tkc_artifact_free(ptx);
    tkc_source_free(source);
    return command_exit(status);
}
