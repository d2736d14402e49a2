/* built_without.h: messages for parts that were not built. Packages are named as in Debian.
 *
 * A new optional library of meson.build is a line here. */
#pragma once

#define BUILT_WITHOUT(part, package) \
    "this vitals was built without " part ": install " package ", then build it again"

#define BUILT_WITHOUT_JSON    BUILT_WITHOUT("jansson and reads no JSON", "libjansson-dev")
#define BUILT_WITHOUT_SQLITE  BUILT_WITHOUT("SQLite", "libsqlite3-dev")
#define BUILT_WITHOUT_ZLIB    BUILT_WITHOUT("zlib", "zlib1g-dev")
#define BUILT_WITHOUT_MONITOR BUILT_WITHOUT("ncurses and has no monitor", "libncurses-dev")
#if VITALS_WITH_JANSSON
#define BUILT_WITHOUT_EXPORTER BUILT_WITHOUT("GnuTLS and exports nothing", "libgnutls28-dev")
#else
#define BUILT_WITHOUT_EXPORTER BUILT_WITHOUT("jansson and exports nothing", "libjansson-dev")
#endif
#define BUILT_WITHOUT_SERVER BUILT_WITHOUT("libmicrohttpd and cannot serve", "libmicrohttpd-dev")
#define BUILT_WITHOUT_CLIENT BUILT_WITHOUT("libcurl and reaches no server", "libcurl4-openssl-dev")
#define BUILT_WITHOUT_YAML   BUILT_WITHOUT("libyaml", "libyaml-dev")
#define BUILT_WITHOUT_CRYPT  BUILT_WITHOUT("libcrypt", "libcrypt-dev")
