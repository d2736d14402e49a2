/* Phases of a program, told to whoever accounts for it. Needs the header alone, and nothing to
 * link:
 *
 *     cc -I include examples/phases.c -o phases
 *     vitals run --record phases.db -- ./phases
 *     vitals report --phases phases.db
 *
 * Without `vitals run` above it the marks do nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vitals/mark.h>

enum { EPOCHS = 3, BYTES = 64 << 20, STEPS = 50000000 };

static unsigned char *load(void)
{
    unsigned char *data = malloc(BYTES);
    if (data != NULL)
        memset(data, 1, BYTES);
    return data;
}

static unsigned long train(const unsigned char *data)
{
    unsigned long sum = 0;
    for (unsigned long i = 0; i < STEPS; i++)
        sum = sum * 31 + data[sum % BYTES];
    return sum;
}

int main(void)
{
    VITALS_BEGIN("load");
    unsigned char *data = load();
    VITALS_END("load");
    if (data == NULL)
        return 1;
    VITALS_BEGIN("train");
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        VITALS_BEGIN("epoch"); /* nested in train */
        printf("epoch %d: %lx\n", epoch, train(data));
        VITALS_END("epoch");
    }
    VITALS_END("train");
    free(data);
    return 0;
}
