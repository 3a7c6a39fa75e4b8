/* The loops as every processor runs them. */
#define SIMT_LOOPS simt_loops_any
#include "loops_rows.h"
