/* export.h: what a declaration promises to the compiler, in one place.
 *
 * Bindings that parse C (cffi, bindgen) define VITALS_BINDINGS and see plain declarations. */
#ifndef VITALS_EXPORT_H
#define VITALS_EXPORT_H

#if defined(__GNUC__) && !defined(VITALS_BINDINGS)
#define VITALS_API                   __attribute__((visibility("default")))
#define VITALS_CHECKED               __attribute__((warn_unused_result))
#define VITALS_NONNULL(...)          __attribute__((nonnull(__VA_ARGS__)))
#define VITALS_FORMAT(string, first) __attribute__((format(printf, string, first)))
#else
#define VITALS_API
#define VITALS_CHECKED
#define VITALS_NONNULL(...)
#define VITALS_FORMAT(string, first)
#endif

#endif
