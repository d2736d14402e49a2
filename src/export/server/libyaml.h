/* libyaml.h: <yaml.h>, whose library is opened when a web configuration is first read
 * (feed/library.h).
 *
 * A function that is called stands in both lists. Call libyaml_missing before any. */
#ifndef VITALS_EXPORT_SERVER_LIBYAML_H
#define VITALS_EXPORT_SERVER_LIBYAML_H

#include <yaml.h>

#define LIBYAML_FUNCTIONS(FUNCTION)       \
    FUNCTION(yaml_document_delete)        \
    FUNCTION(yaml_document_get_node)      \
    FUNCTION(yaml_document_get_root_node) \
    FUNCTION(yaml_parser_delete)          \
    FUNCTION(yaml_parser_initialize)      \
    FUNCTION(yaml_parser_load)            \
    FUNCTION(yaml_parser_set_input_string)

struct libyaml_functions {
#define LIBYAML_MEMBER(name) __typeof__(name) *name##_function;
    LIBYAML_FUNCTIONS(LIBYAML_MEMBER)
#undef LIBYAML_MEMBER
};

extern struct libyaml_functions libyaml; /* set by libyaml_missing, and never after */

/* Opens it, once. NULL: it is open; else why it is not. */
const char *libyaml_missing(void);

#define yaml_document_delete         (*libyaml.yaml_document_delete_function)
#define yaml_document_get_node       (*libyaml.yaml_document_get_node_function)
#define yaml_document_get_root_node  (*libyaml.yaml_document_get_root_node_function)
#define yaml_parser_delete           (*libyaml.yaml_parser_delete_function)
#define yaml_parser_initialize       (*libyaml.yaml_parser_initialize_function)
#define yaml_parser_load             (*libyaml.yaml_parser_load_function)
#define yaml_parser_set_input_string (*libyaml.yaml_parser_set_input_string_function)

#endif
