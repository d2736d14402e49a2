/* publishers.c: the list of publishers, in the order in which they are called. */
#include "export/publisher.h"

extern const struct publisher serve_publisher;       /* serve.c, or no_serve.c */
extern const struct publisher textfile_publisher;    /* textfile.c */
extern const struct publisher publisher_mlflow;      /* mlflow.c */
extern const struct publisher publisher_otlp;        /* otlp.c */
extern const struct publisher publisher_tensorboard; /* tensorboard.c */

const struct publisher *const publishers[] = {
    &serve_publisher, &textfile_publisher,    &publisher_mlflow,
    &publisher_otlp,  &publisher_tensorboard, NULL,
};
