/* documents.h: the printers of vitals-documents, one for each generated file of the tree. */
#ifndef VITALS_COMMAND_DOCUMENTS_DOCUMENTS_H
#define VITALS_COMMAND_DOCUMENTS_DOCUMENTS_H

#include "command/output.h"

void document_metrics_header(struct output *output);
void document_measures_header(struct output *output);
void document_metrics(struct output *output);
void document_snapshot_schema(struct output *output);
void document_options(struct output *output);
void document_man(struct output *output);
void document_completions(struct output *output);
void document_families(struct output *output);

#endif
