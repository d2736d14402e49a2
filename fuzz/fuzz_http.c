/* Any bytes as what a client of the server sends on one connection: requests, pipelined or cut. The
 * server answers or closes, each answer is one of HTTP, and it serves the next client. */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "export/environment.h"
#include "export/publisher.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct publisher publisher_serve;
static struct sockaddr_un place = {.sun_family = AF_UNIX};

const char *environment_get(const char *name)
{
    (void)name;
    return NULL;
}

static void require(int condition)
{
    if (!condition)
        abort();
}

static void remove_socket(void)
{
    (void)unlink(place.sun_path);
}

static void start(void)
{
    void *data;
    vitals_error error = {.message = ""};
    (void)snprintf(place.sun_path, sizeof place.sun_path, "/tmp/vitals-fuzz-%ld.sock",
                   (long)getpid());
    char name[sizeof place.sun_path + 8];
    (void)snprintf(name, sizeof name, "unix:%s", place.sun_path);
    json_t *config = json_pack("{s:[s]}", "listen", name);
    /* With a textfile it stays root, if it is: nobody may not connect to the socket. */
    json_t *hello = json_pack("{s:i,s:{}}", "tell", 1, "textfile");
    require(config != NULL && hello != NULL);
    if (publisher_serve.open(config, hello, &data, &error) != 0) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    (void)atexit(remove_socket);
    json_decref(config);
    json_decref(hello);
}

static int connected(void)
{
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(client >= 0);
    require(connect(client, (const struct sockaddr *)&place, sizeof place) == 0);
    return client;
}

/* Reads to the end; the first bytes are an answer, or nothing. A stream has no end. */
static void read_answers(int client)
{
    static char answer[1 << 16];
    size_t all = 0;
    ssize_t got = 1;
    struct pollfd readable = {.fd = client, .events = POLLIN};
    while (got > 0 && all < sizeof answer && poll(&readable, 1, 20) == 1) {
        got = recv(client, answer, sizeof answer, 0);
        if (got > 0 && all == 0)
            require(got < 5 || memcmp(answer, "HTTP/", 5) == 0);
        all += got > 0 ? (size_t)got : 0;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { ASK_EACH = 64 };
    static const char WELL[] =
        "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static unsigned count;
    if (count == 0)
        start();
    int client = connected();
    for (size_t at = 0; at < size;) {
        ssize_t sent = send(client, data + at, size - at, MSG_NOSIGNAL);
        if (sent <= 0)
            break;
        at += (size_t)sent;
    }
    (void)shutdown(client, SHUT_WR);
    read_answers(client);
    close(client);

    if (++count % ASK_EACH == 0) {
        char answer[16] = "";
        client = connected();
        require(send(client, WELL, sizeof WELL - 1, MSG_NOSIGNAL) == (ssize_t)sizeof WELL - 1);
        require(recv(client, answer, 12, MSG_WAITALL) == 12);
        require(memcmp(answer, "HTTP/1.1 ", 9) == 0);
        close(client);
    }
    return 0;
}
