/* Births in a tree, by messages of the process connector that are made up as Linux 6.18 sends them.
 */
#include "check.h"

#include "os/linux/process/births.h"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>

enum { ROOT = 200, BYTES = 256, QUESTION = 77 };

struct message {
    char bytes[BYTES];
    size_t size;
};

static void put(struct message *message, const void *bytes, size_t size)
{
    memcpy(message->bytes + message->size, bytes, size);
    message->size += size;
}

static struct message message_of(uint32_t index, uint32_t what, const uint32_t *words, size_t count)
{
    struct message message = {.size = 0};
    const uint32_t cpu = 1;
    const uint64_t time_ns = 5;
    const size_t data = sizeof what + sizeof cpu + sizeof time_ns + count * sizeof *words;
    const struct cn_msg head = {
        .id = {index, CN_VAL_PROC}, .ack = QUESTION + 1, .len = (uint16_t)data};
    const struct nlmsghdr header = {.nlmsg_len = (uint32_t)(sizeof header + sizeof head + data),
                                    .nlmsg_type = NLMSG_DONE};
    put(&message, &header, sizeof header);
    put(&message, &head, sizeof head);
    put(&message, &what, sizeof what);
    put(&message, &cpu, sizeof cpu);
    put(&message, &time_ns, sizeof time_ns);
    put(&message, words, count * sizeof *words);
    return message;
}

static void is_born(struct births *births, uint32_t parent, uint32_t child, uint32_t thread)
{
    const uint32_t words[] = {parent, parent, thread, child};
    struct message message = message_of(CN_IDX_PROC, PROC_EVENT_FORK, words, 4);
    births_take(births, message.bytes, message.size);
}

static struct births begin(void)
{
    struct births births = {.settled = true};
    births_add(&births, ROOT);
    return births;
}

static void children_of_members_are_members(void)
{
    struct births births = begin();
    is_born(&births, ROOT, 201, 201);
    is_born(&births, 201, 202, 202);
    is_born(&births, 1, 999, 999);    /* of another tree */
    is_born(&births, 999, 998, 998);  /* and theirs */
    is_born(&births, ROOT, 201, 203); /* a thread of 201, told with the parent of that */
    CHECK_UINT(births.count, 3);
    CHECK(births_has(&births, 202));
    CHECK_FALSE(births_has(&births, 998));
    CHECK_FALSE(births_has(&births, 203));
    births_done(&births);
}

static void a_pid_that_is_given_again_is_another_process(void)
{
    struct births births = begin();
    is_born(&births, ROOT, 201, 201);
    is_born(&births, ROOT, 201, 201); /* the first has ended */
    CHECK_UINT(births.count, 3);
    is_born(&births, 1, 201, 201); /* and the second; this one is a stranger */
    is_born(&births, 201, 202, 202);
    CHECK_UINT(births.count, 3);
    births_done(&births);
}

static void note(void *data, uint32_t pid)
{
    uint32_t *last = data;
    last[0]++;
    last[1] = pid;
}

static void a_member_whose_pid_is_given_again_is_forgotten(void)
{
    uint32_t noted[2] = {0};
    struct births births = begin();
    births.forgotten = note;
    births.data = noted;
    is_born(&births, ROOT, 201, 201);
    is_born(&births, 1, 999, 999); /* not of the tree: nothing is forgotten */
    CHECK_UINT(noted[0], 0);
    is_born(&births, ROOT, 201, 201);
    CHECK_UINT(noted[0], 1);
    is_born(&births, 1, 201, 201);
    is_born(&births, 1, 201, 201); /* a stranger by now */
    CHECK_UINT(noted[0], 2);
    CHECK_UINT(noted[1], 201);
    births_done(&births);
}

/* A process that was listed may have been in a message too. */
static void who_lived_at_the_beginning_counts_once(void)
{
    struct births births = {.count = 0};
    births_add(&births, ROOT);
    births_add(&births, 201);
    is_born(&births, ROOT, 201, 201);
    is_born(&births, ROOT, 202, 202);
    births_add(&births, 202);
    CHECK_UINT(births.count, 3);
    births_done(&births);
}

static void an_answer_is_heard(void)
{
    static const struct {
        const char *what;
        uint32_t index, word, question;
        bool heard;
    } ROWS[] = {{"yes", CN_IDX_PROC, 0, QUESTION, true},
                {"not permitted", CN_IDX_PROC, 1, QUESTION, false},
                {"to the question of another", CN_IDX_PROC, 0, QUESTION + 1, false},
                {"of another", CN_IDX_PROC + 1, 0, QUESTION, false}};
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        struct births births = begin();
        births.question = ROWS[i].question;
        CHECK_CASE(ROWS[i].what);
        struct message message = message_of(ROWS[i].index, 0, &ROWS[i].word, 1);
        births_take(&births, message.bytes, message.size);
        CHECK_INT(births.heard, ROWS[i].heard);
        births_done(&births);
    }
}

static void a_message_that_is_cut_is_none(void)
{
    const uint32_t words[] = {ROOT, ROOT, 201, 201};
    const struct message whole = message_of(CN_IDX_PROC, PROC_EVENT_FORK, words, 4);
    for (size_t size = 0; size < whole.size; size++) {
        struct births births = begin();
        char *copy = malloc(size > 0 ? size : 1); /* so that a sanitizer sees a read behind it */
        memcpy(copy, whole.bytes, size);
        births_take(&births, copy, size);
        if (size >= sizeof(struct nlmsghdr)) { /* and one whose size is true of what is left */
            const uint32_t length = (uint32_t)size;
            memcpy(copy, &length, sizeof length);
            births_take(&births, copy, size);
        }
        CHECK_UINT(births.count, 1);
        free(copy);
        births_done(&births);
    }
}

static void more_than_are_remembered_is_said(void)
{
    struct births births = begin();
    for (uint32_t pid = 1000; !births.cut && pid < 1000 + (1u << 20); pid++)
        is_born(&births, ROOT, pid, pid);
    CHECK(births.cut);
    uint64_t count = births.count;
    is_born(&births, ROOT, 3000000, 3000000);
    CHECK_UINT(births.count, count + 1); /* it still counts */
    births_done(&births);
}

static const check_test tests[] = {
    {"children of members are members", children_of_members_are_members},
    {"a pid that is given again is another process", a_pid_that_is_given_again_is_another_process},
    {"a member whose pid is given again is forgotten",
     a_member_whose_pid_is_given_again_is_forgotten},
    {"who lived at the beginning counts once", who_lived_at_the_beginning_counts_once},
    {"an answer is heard", an_answer_is_heard},
    {"a message that is cut is none", a_message_that_is_cut_is_none},
    {"more than are remembered is said", more_than_are_remembered_is_said},
};
CHECK_TESTS(tests)
