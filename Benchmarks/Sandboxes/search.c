/* Times Ping and SearchItems in turn over one connection: search COUNT ROUNDS, prints the medians in microseconds. */

#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static DBusConnection *connection;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static double call(DBusMessage *message) {
    double start = now();
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(connection, message, 60000, NULL);
    double time = now() - start;
    if (!reply) exit(2);
    dbus_message_unref(reply);
    dbus_message_unref(message);
    return time;
}

static DBusMessage *make(const char *interface, const char *member) {
    return dbus_message_new_method_call("org.freedesktop.secrets", "/org/freedesktop/secrets", interface, member);
}

static DBusMessage *search(void) {
    DBusMessage *message = make("org.freedesktop.Secret.Service", "SearchItems");
    DBusMessageIter arguments, entries, entry;
    const char *name = "service", *value = "shared";
    dbus_message_iter_init_append(message, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{ss}", &entries);
    dbus_message_iter_open_container(&entries, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &name);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &value);
    dbus_message_iter_close_container(&entries, &entry);
    dbus_message_iter_close_container(&arguments, &entries);
    return message;
}

static int compare(const void *first, const void *second) {
    double difference = *(const double *)first - *(const double *)second;
    return difference < 0 ? -1 : difference > 0;
}

int main(int count, char **arguments) {
    int rounds = count > 1 ? atoi(arguments[1]) : 5000;
    connection = dbus_bus_get(DBUS_BUS_SESSION, NULL);
    if (!connection || rounds < 1) return 1;
    double *pings = calloc(rounds, sizeof(double)), *searches = calloc(rounds, sizeof(double));
    for (int round = 0; round < rounds; round++) {
        pings[round] = call(make("org.freedesktop.DBus.Peer", "Ping"));
        searches[round] = call(search());
    }
    qsort(pings, rounds, sizeof(double), compare);
    qsort(searches, rounds, sizeof(double), compare);
    printf("%.1f %.1f\n", pings[rounds / 2], searches[rounds / 2]);
    return 0;
}
