#pragma once

#include <dbus/dbus.h>

// The type codes are macros with casts, which Swift does not import.

static const int keychaind_dbus_type_invalid = DBUS_TYPE_INVALID;
static const int keychaind_dbus_type_byte = DBUS_TYPE_BYTE;
static const int keychaind_dbus_type_boolean = DBUS_TYPE_BOOLEAN;
static const int keychaind_dbus_type_int32 = DBUS_TYPE_INT32;
static const int keychaind_dbus_type_uint32 = DBUS_TYPE_UINT32;
static const int keychaind_dbus_type_int64 = DBUS_TYPE_INT64;
static const int keychaind_dbus_type_uint64 = DBUS_TYPE_UINT64;
static const int keychaind_dbus_type_string = DBUS_TYPE_STRING;
static const int keychaind_dbus_type_object_path = DBUS_TYPE_OBJECT_PATH;
static const int keychaind_dbus_type_unix_fd = DBUS_TYPE_UNIX_FD;
static const int keychaind_dbus_type_array = DBUS_TYPE_ARRAY;
static const int keychaind_dbus_type_variant = DBUS_TYPE_VARIANT;
static const int keychaind_dbus_type_struct = DBUS_TYPE_STRUCT;
static const int keychaind_dbus_type_struct_begin = DBUS_STRUCT_BEGIN_CHAR;
static const int keychaind_dbus_type_struct_end = DBUS_STRUCT_END_CHAR;
static const int keychaind_dbus_type_dict_entry = DBUS_TYPE_DICT_ENTRY;

static const int keychaind_dbus_message_method_call = DBUS_MESSAGE_TYPE_METHOD_CALL;
static const int keychaind_dbus_message_error = DBUS_MESSAGE_TYPE_ERROR;
static const int keychaind_dbus_message_signal = DBUS_MESSAGE_TYPE_SIGNAL;

// Deprecated in favour of counting the elements, whose cost grows with their number.

static inline int keychaind_dbus_array_size(DBusMessageIter *elements) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return dbus_message_iter_get_array_len(elements);
#pragma GCC diagnostic pop
}

static const int keychaind_dbus_timeout_infinite = DBUS_TIMEOUT_INFINITE;
