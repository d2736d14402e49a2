/* x */
#include "check.h"
static const check_test tests[] = {{"x", NULL}};
CHECK_MAIN(tests)
