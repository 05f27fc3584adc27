#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A C interface to toml++ for a configuration of booleans, integers, strings and arrays of strings.

enum keychaind_toml_kind {
    keychaind_toml_boolean,
    keychaind_toml_integer,
    keychaind_toml_text,
    // An array of strings only, also an empty one.
    keychaind_toml_texts,
    keychaind_toml_empty_table,
    keychaind_toml_other,
};

struct keychaind_toml_value {
    // The names of the enclosing tables, then that of the value; NUL-terminated UTF-8.
    const char *const *keys;
    size_t key_count;
    enum keychaind_toml_kind kind;
    // The integer, or 0 or 1 for a boolean.
    int64_t number;
    const char *text;
    const char *const *texts;
    size_t text_count;
    // The places of the name and of the value; from 1.
    uint32_t key_line, key_column, line, column;
};

struct keychaind_toml_failure {
    const char *message;
    uint32_t line, column;
};

// Calls `each` for every value of a document, or only `failed` if it is malformed. Arguments are valid during the call.
void keychaind_toml_parse(const char *document, size_t length, void *context,
                          void (*each)(void *context, const struct keychaind_toml_value *value),
                          void (*failed)(void *context, const struct keychaind_toml_failure *failure));

#ifdef __cplusplus
}
#endif
