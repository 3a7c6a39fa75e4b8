/* Versions, as the user and the key of a compiled kernel see them. */
#include <llvm/Config/llvm-config.h>

#include "tkc/tkc.h"

const char *tkc_version(void)
{
    return TKC_VERSION_STRING;
}

const char *tkc_version_long(void)
{
    return "tkc " TKC_VERSION_STRING " (LLVM " LLVM_VERSION_STRING ")";
}

const char *tkc_arch_list(void)
{
    return ""
#define MACHINE(name, ...) name " "
#include "ir/machines.def"
#undef MACHINE
        ;
}
