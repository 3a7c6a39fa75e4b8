/* Which file, namespace or host module an import means: where its file is looked for, what counts as
   outside of all files, and what is said of a module that is not found. */
#include <string.h>

#include "spec/eval.h"

/* Folders above the importing file in which an absolute import is looked for. */
enum { MAX_ANCESTORS = 8 };

/* "a/b/c.py" -> "a/b", "c.py" -> "", "" -> "..", ".." -> "../.." */
static const char *folder_above(Program *p, const char *path)
{
    size_t n = strlen(path);
    if (n == 0) return "..";
    if (n >= 2 && strcmp(path + n - 2, "..") == 0) return arena_printf(p->arena, "%s/..", path);
    const char *slash = strrchr(path, '/');
    if (!slash) return "";
    return slash == path ? "/" : arena_strndup(p->arena, path, (size_t)(slash - path));
}

static const char *join_path(Program *p, const char *folder, const char *name)
{
    if (!*folder) return name;
    return arena_printf(p->arena, strcmp(folder, "/") == 0 ? "%s%s" : "%s/%s", folder, name);
}

static SpecModule *open_file(Program *p, const char *path)
{
    Str name = intern_cstr(p->ir->names, path);
    SpecModule *m = map_get_ptr(&p->files, name);
    if (m || map_has(&p->files, (uint64_t)(uintptr_t)name)) return m;
    map_set_ptr(&p->files, name, NULL);
    size_t len = 0;
    bool is_shown = true;
    const char *text = p->rq && p->rq->read_file
                           ? p->rq->read_file(p->rq->read_user, p->arena, path, &len, &is_shown)
                           : NULL;
    if (!text) return NULL;
    Source *source = source_new(p->arena, path, text, len);
    source->is_hidden = !is_shown;
    AstFile *file = syntax_parse(p->arena, p->ir->names, p->dx, source);
    return module_for_file(p, file, false);
}

/* The file of a module whose path without its ending is known. */
static SpecModule *open_module(Program *p, const char *stem)
{
    static const char *const endings[] = {".py", ".tk", "/__init__.py"};
    for (int i = 0; i < 3; i++) {
        SpecModule *m = open_file(p, arena_printf(p->arena, "%s%s", stem, endings[i]));
        if (m) return m;
    }
    return NULL;
}

static char *slashes(Program *p, const char *dotted)
{
    char *path = arena_strndup(p->arena, dotted, strlen(dotted));
    for (char *c = path; *c; c++)
        if (*c == '.') *c = '/';
    return path;
}

/* Where an import starts from: the file's folder, or of a relative one more folders above it. */
static const char *base_of(const SpecModule *m, int level)
{
    const char *folder = folder_above(m->program, m->path);
    for (int i = 1; i < level; i++) folder = folder_above(m->program, folder);
    return folder;
}

/* The files of an import without their endings, in the order in which they are looked for. An
   absolute one is in the file's folder, in those above it (*nabove with it), in those given. */
static AstNames stems_of(const SpecModule *m, int level, const char *dotted, int *nabove)
{
    Program *p = m->program;
    AstNames out = {0};
    const char *path = slashes(p, dotted), *folder = base_of(m, level);
    for (int i = 0; i < (level ? 1 : MAX_ANCESTORS); i++) {
        vec_push(p->arena, &out, join_path(p, folder, path));
        if (strcmp(folder, "/") == 0) break;
        folder = folder_above(p, folder);
    }
    *nabove = out.len;
    for (int i = 0; !level && p->rq && i < p->rq->ninclude; i++)
        vec_push(p->arena, &out, join_path(p, p->rq->include[i], path));
    return out;
}

/* Packages that are known to be outside: no file is looked for. */
static const char packages[] =
    " triton tkc torch math os sys numpy functools typing packaging builtins logging enum"
    " dataclasses itertools collections contextlib importlib warnings inspect operator re time"
    " copy ";
/* And those of Python's own, which a file beside the importing one may replace. */
static const char library[] =
    " abc argparse array ast asyncio atexit base64 bdb binascii bisect bz2 cProfile calendar cmath"
    " cmd code codecs codeop colorsys compileall concurrent configparser contextvars copyreg csv"
    " ctypes datetime dbm decimal difflib dis doctest email errno faulthandler fcntl filecmp"
    " fileinput fnmatch fractions ftplib gc getopt getpass gettext glob graphlib grp gzip hashlib"
    " heapq hmac html http imaplib io ipaddress json keyword linecache locale lzma mailbox marshal"
    " mimetypes mmap modulefinder multiprocessing netrc numbers opcode optparse pathlib pdb pickle"
    " pickletools pkgutil platform plistlib poplib posix pprint profile pstats pty pwd py_compile"
    " pyclbr pydoc queue quopri random readline reprlib resource runpy sched secrets select"
    " selectors shelve shlex shutil signal site smtplib socket socketserver sqlite3 ssl stat"
    " statistics string stringprep struct subprocess symtable sysconfig syslog tarfile tempfile"
    " termios textwrap threading timeit token tokenize tomllib trace traceback tracemalloc tty"
    " types unicodedata unittest urllib uuid venv wave weakref webbrowser xml xmlrpc zipapp"
    " zipfile zipimport zlib zoneinfo ";

/* Whether a list has the module's package. */
static bool is_listed(Program *p, const char *list, const char *dotted)
{
    const int n = (int)strcspn(dotted, ".");
    return n && strstr(list, arena_printf(p->arena, " %.*s ", n, dotted));
}

/* "'a/b/mylib', 'a/mylib' and 2 folders above" */
static const char *places_of(const SpecModule *m, int level, const char *dotted)
{
    enum { SHOWN = 2 };
    int nabove;
    const AstNames stems = stems_of(m, level, dotted, &nabove);
    Buf out = buf_make(m->program->arena);
    for (int i = 0; i < stems.len; i++) {
        if (i == SHOWN && nabove > SHOWN) buf_printf(&out, ", in %d more above", nabove - SHOWN);
        if (i < SHOWN || i >= nabove) buf_printf(&out, "%s'%s'", i ? ", " : "", stems.data[i]);
    }
    return buf_text(&out);
}

/* The host module of an import that leads to no file. */
static SpecModule *missing_module(SpecModule *m, int level, const char *dotted, Span at)
{
    Program *p = m->program;
    SpecModule *host = module_named(p, *dotted ? dotted : ".");
    const bool is_outside = is_listed(p, packages, dotted) || is_listed(p, library, dotted);
    if (host->kind == MODULE_HOST && (level > 0 || !is_outside))
        host->missing = places_of(m, level, dotted), host->is_relative = level > 0;
    if (host->missing && !host->imported.source) host->imported = at;
    return host;
}

SpecModule *import_module(SpecModule *m, int level, const char *dotted, Span at)
{
    Program *p = m->program;
    SpecModule *found = NULL;
    int nabove;
    if (level > 0 && !*dotted) {
        const char *base = base_of(m, level);
        found = open_file(p, join_path(p, base, "__init__.py"));
        if (!found) found = module_new(p, MODULE_PACKAGE, intern_cstr(p->ir->names, base));
    } else if (level > 0 || !is_listed(p, packages, dotted)) {
        const AstNames stems = stems_of(m, level, dotted, &nabove);
        for (int i = 0; i < stems.len && !found; i++) found = open_module(p, stems.data[i]);
    }
    return found ? found : missing_module(m, level, dotted, at);
}

SpecModule *import_missing(const SpecModule *m)
{
    const char *path = m->path;
    for (size_t n = strlen(path); n > 0; n--) {
        if (path[n] && path[n] != '.' && path[n] != '(' && path[n] != '[') continue;
        Str name = intern(m->program->ir->names, path, n);
        SpecModule *root = map_get_ptr(&m->program->namespaces, name);
        if (root && root->missing) return root;
    }
    return NULL;
}

static void note_missing(Spec *sp, Diag *d, const SpecModule *m, Span imported)
{
    diag_note(sp->dx, d, SPAN_NONE, "looked for %s, each with .py, .tk and /__init__.py",
              m->missing);
    if (imported.source) diag_note(sp->dx, d, imported, "it is imported here");
    if (!m->is_relative) diag_setting(sp->dx, d, "include", "DIR");
}

void module_refuse(Spec *sp, const SpecModule *m, Span at, const char *what)
{
    SpecModule *root = import_missing(m);
    if (!root) spec_error_as(sp, DIAG_HOST_CODE, at, "'%s' is %s", m->path, what);
    if (!root || root->is_refused) return;
    spec_error_as(sp, DIAG_IMPORT_NOT_FOUND, at, "the module '%s' is not found", root->path);
    note_missing(sp, sp->last_error, root, root->imported);
    root->is_refused = sp->last_error != NULL;
}

void import_warn(Spec *sp, SpecModule *missing, Span at)
{
    if (missing->is_told) return;
    Diag *d = diag_warning(sp->dx, DIAG_UNKNOWN_MODULE, at,
                           "the module '%s' is not found: this file is compiled as without it",
                           missing->path);
    note_missing(sp, d, missing, SPAN_NONE);
    missing->is_told = !sp->dx->muted;
}

SpecValue module_find(Spec *sp, SpecModule *m, Str dotted, Span at)
{
    static const char *const names[] = {"name"};
    SpecModule *found = import_module(m, 0, dotted, at), *missing = import_missing(found);
    const SpecValue name = sv_str(dotted);
    if (!missing) return constant_record(sp, "ModuleSpec", 1, names, &name);
    import_warn(sp, missing, at);
    return sv_none();
}

SpecModule *import_submodule(SpecModule *m, Str name)
{
    Program *p = m->program;
    if (m->kind == MODULE_PACKAGE) return open_module(p, join_path(p, m->path, name));
    size_t n = strlen(m->path);
    if (n < 11 || strcmp(m->path + n - 11, "__init__.py") != 0) return NULL;
    return open_module(p, join_path(p, folder_above(p, m->path), name));
}
