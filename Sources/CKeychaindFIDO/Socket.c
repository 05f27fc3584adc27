// A key that is a socket: each packet is a CTAPHID report.

#include "FIDO.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct connection {
    int socket;
};

static void *open_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return NULL;
    strcpy(address.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return NULL;
    struct connection *connection = malloc(sizeof *connection);
    if (!connection || connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        free(connection);
        close(descriptor);
        return NULL;
    }
    connection->socket = descriptor;
    return connection;
}

static void close_socket(void *handle) {
    struct connection *connection = handle;
    close(connection->socket);
    free(connection);
}

static int read_report(void *handle, unsigned char *bytes, size_t size, int milliseconds) {
    struct connection *connection = handle;
    struct pollfd input = {.fd = connection->socket, .events = POLLIN};
    int result;
    do result = poll(&input, 1, milliseconds);
    while (result < 0 && errno == EINTR);
    if (result != 1) return -1;
    ssize_t count = recv(connection->socket, bytes, size, 0);
    return count > 0 ? (int)count : -1;
}

/// Writes a report without the number before it, which HID has.
static int write_report(void *handle, const unsigned char *bytes, size_t size) {
    struct connection *connection = handle;
    if (size < 1) return -1;
    ssize_t count = send(connection->socket, bytes + 1, size - 1, MSG_NOSIGNAL);
    return count == (ssize_t)(size - 1) ? (int)size : -1;
}

const fido_dev_io_t keychaind_fido_socket = {open_socket, close_socket, read_report, write_report};
