/* Versions, as the user and the key of a compiled kernel see them. */
#include <llvm/Config/llvm-config.h>

#include "tkc/tkc.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define VERSION TEXT(TKC_VERSION_MAJOR) "." TEXT(TKC_VERSION_MINOR) "." TEXT(TKC_VERSION_PATCH)

int tkc_version_number(void)
{
    return TKC_VERSION;
}

const char *tkc_version(void)
{
    return VERSION;
}

const char *tkc_version_long(void)
{
    return "tkc " VERSION " (LLVM " LLVM_VERSION_STRING ")";
}

const char *tkc_arch_list(void)
{
    return ""
#define MACHINE(name, ...) name " "
#include "ir/machines.def"
#undef MACHINE
        ;
}
