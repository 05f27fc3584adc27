#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// toml++ is C++; this is as much of it as a configuration of flags, numbers and texts needs.

enum keychaind_toml_kind {
    keychaind_toml_boolean,
    keychaind_toml_integer,
    keychaind_toml_text,
    keychaind_toml_empty_table,
    keychaind_toml_other,
};

struct keychaind_toml_value {
    // The names of the tables that the value is in, and its own; NUL-terminated UTF-8.
    const char *const *keys;
    size_t key_count;
    enum keychaind_toml_kind kind;
    // Of a boolean, 0 or 1.
    int64_t number;
    const char *text;
    // Where the value's own name is, and the value; from 1.
    uint32_t key_line, key_column, line, column;
};

struct keychaind_toml_failure {
    const char *message;
    uint32_t line, column;
};

// Calls back for each value in a document; only for the failure if it is not well-formed. What is passed is valid for the call.
void keychaind_toml_parse(const char *document, size_t length, void *context,
                          void (*each)(void *context, const struct keychaind_toml_value *value),
                          void (*failed)(void *context, const struct keychaind_toml_failure *failure));

#ifdef __cplusplus
}
#endif
