#pragma once

#include <sqlite3.h>

// Swift does not import macros with nested expressions.

static const int keychaind_sqlite_ioerr_nomem = SQLITE_IOERR_NOMEM;
static const int keychaind_sqlite_ioerr_shmsize = SQLITE_IOERR_SHMSIZE;
static const int keychaind_sqlite_readonly_dbmoved = SQLITE_READONLY_DBMOVED;

// sqlite3_db_config is variadic.

static inline int keychaind_sqlite_configure(sqlite3 *database, int option, int value) {
    return sqlite3_db_config(database, option, value, (int *)0);
}

// SQLITE_TRANSIENT is a cast of -1 to a function pointer.

static inline int keychaind_sqlite_bind_blob(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count
) {
    if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

static inline int keychaind_sqlite_bind_text(
    sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 count
) {
    return sqlite3_bind_text64(statement, index, count == 0 ? "" : text, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}
