/* task_iterator.c: one number (a digest) of each process, by one reading of all of them: while a
 * process's number is the same, /proc/PID/stat would say nothing new.
 *
 * A small program that walks the kernel's own list of tasks (a BPF iterator, Linux 5.8), made here
 * for the layout that this kernel reports (btf.h). It mixes all fields of each thread that stat is
 * made of. Reading 1000 sleeping processes so takes 0.2 ms, while their files take 4.
 *
 * Needs Linux 5.14, CAP_BPF and CAP_PERFMON, our being in the first pid namespace, and a kernel
 * that reports its layout. A caller without these reads files. Thread rule: one thread at a time.
 */
#include "os/linux/linux.h"
#include "os/linux/process/btf.h"

#include "util/memory.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PROGRAM_MOST = 256 };

/* 2^64 over the golden ratio: every bit of a product by it depends on all below. */
static const uint64_t ODD = 0x9E3779B97F4A7C15u;

/* A thread costs a tenth of what reading the stat of a process does. */
enum { MANY_THREADS = 2000, THREADS_EACH = 10 };

/* The program's output for each thread. */
struct record {
    uint32_t process, thread;
    uint32_t state; /* 0: it runs, or could */
    uint32_t zero;
    uint64_t mixed;
    uint64_t terminal;
};

struct os_task_iterator {
    int program, link;
    struct record *records;
    size_t capacity;
    struct os_task_digest *items;
    size_t item_capacity;
};

/* ---- the program ---- */

/* A member that is part of the digest: of the task, or of a struct that it points to. If a kernel
 * has no such member, an older one may stand in its place. */
enum { STEPS = 4 };
struct task_iterator_source {
    const char *steps[STEPS][2]; /* structure, member; each leads to the next */
    const char *older;           /* of the last step */
};

// clang-format off
#define OF_TASK(member)        {.steps = {{"task_struct", member}}}
#define OF_PARENT(member)      {.steps = {{"task_struct", "real_parent"}, {"task_struct", member}}}
#define OF_GROUP(member)       {.steps = {{"task_struct", "signal"}, {"signal_struct", member}}}
#define OF_MEMORY(member, was) {{{"task_struct", "mm"}, {"mm_struct", member}}, was}
#define NUMBER                 {"pid", "numbers.0.nr"}

static const struct task_iterator_source MIXED[] = {
    OF_TASK("start_boottime"), /* identity */
    OF_TASK("se.sum_exec_runtime"), OF_TASK("__state"), OF_TASK("exit_state"), OF_TASK("flags"),
    OF_TASK("jobctl"), OF_TASK("prio"), OF_TASK("static_prio"), OF_TASK("rt_priority"),
    OF_TASK("policy"), OF_TASK("min_flt"), OF_TASK("maj_flt"), OF_TASK("utime"), OF_TASK("stime"),
    OF_PARENT("tgid"), OF_GROUP("nr_threads"), OF_GROUP("sum_sched_runtime"), OF_GROUP("cutime"),
    OF_GROUP("cstime"), OF_MEMORY("total_vm", NULL),
    OF_MEMORY("rss_stat.0.count", "rss_stat.count.0.counter"), /* before 6.2 */
    OF_MEMORY("rss_stat.1.count", "rss_stat.count.1.counter"),
    OF_MEMORY("rss_stat.3.count", "rss_stat.count.3.counter"),
    {.steps = {{"task_struct", "signal"}, {"signal_struct", "pids.2"}, NUMBER}}, /* its group */
    {.steps = {{"task_struct", "signal"}, {"signal_struct", "pids.3"}, NUMBER}}, /* its session */
    {.steps = {{"task_struct", "signal"}, {"signal_struct", "tty"},
               {"tty_struct", "ctrl.pgrp"}, NUMBER}}, /* the group in its terminal's foreground */
};
// clang-format on

/* Its terminal, as an address, which is handed over: it is its own as long as it has it. */
static const struct task_iterator_source HANDED = OF_GROUP("tty");

struct program {
    struct bpf_insn steps[PROGRAM_MOST];
    size_t count;
    const struct btf *btf;
    bool failed; /* it does not fit, or the kernel has no such member */
};

static struct bpf_insn step_of(unsigned code, unsigned to, unsigned from)
{
    return (struct bpf_insn){.code = (uint8_t)code, .dst_reg = to & 15u, .src_reg = from & 15u};
}

static void put(struct program *program, struct bpf_insn step)
{
    if (program->count == PROGRAM_MOST)
        program->failed = true;
    else
        program->steps[program->count++] = step;
}

static void put_load(struct program *program, unsigned to, unsigned from, struct btf_field field)
{
    static const uint8_t WIDTHS[] = {[1] = BPF_B, [2] = BPF_H, [4] = BPF_W, [8] = BPF_DW};
    struct bpf_insn step = step_of(BPF_LDX | BPF_MEM | WIDTHS[field.size], to, from);
    step.off = (int16_t)field.offset;
    program->failed |= field.offset > INT16_MAX;
    put(program, step);
}

static void put_store(struct program *program, unsigned width, unsigned from, size_t offset)
{
    struct bpf_insn step = step_of(BPF_STX | BPF_MEM | width, BPF_REG_10, from);
    step.off = (int16_t)((int)offset - (int)sizeof(struct record));
    put(program, step);
}

static void put_operation(struct program *program, unsigned operation, unsigned to, unsigned from)
{
    put(program, step_of(BPF_ALU64 | operation | BPF_X, to, from));
}

static void put_number(struct program *program, unsigned operation, unsigned to, int32_t number)
{
    struct bpf_insn step = step_of(BPF_ALU64 | operation | BPF_K, to, 0);
    step.imm = number;
    put(program, step);
}

/* The register, from a member of what another leads to. */
static bool put_member(struct program *program, unsigned to, unsigned from, const char *structure,
                       const char *member)
{
    struct btf_field field;
    if (!btf_member(program->btf, structure, member, &field) || field.size > 8 ||
        (field.size & (field.size - 1)) != 0)
        return false;
    put_load(program, to, from, field);
    return true;
}

enum {
    VALUE = BPF_REG_1,
    CONTEXT = BPF_REG_6,
    TASK = BPF_REG_7,
    MIX = BPF_REG_8,
    PRIME = BPF_REG_9,
};

/* VALUE, from the task by the source's steps. */
static void put_source(struct program *program, const struct task_iterator_source *source)
{
    unsigned from = TASK;
    for (size_t i = 0; i < STEPS && source->steps[i][0] != NULL; i++) {
        bool last = i + 1 == STEPS || source->steps[i + 1][0] == NULL;
        const char *structure = source->steps[i][0];
        program->failed |= !put_member(program, VALUE, from, structure, source->steps[i][1]) &&
                           !(last && source->older != NULL &&
                             put_member(program, VALUE, from, structure, source->older));
        from = VALUE;
    }
}

static void put_exit(struct program *program)
{
    put_number(program, BPF_MOV, BPF_REG_0, 0);
    put(program, step_of(BPF_JMP | BPF_EXIT, 0, 0));
}

static void make_program(struct program *program)
{
    static const struct {
        const char *member;
        size_t offset;
    } IDENTITY[] = {{"tgid", offsetof(struct record, process)},
                    {"pid", offsetof(struct record, thread)},
                    {"__state", offsetof(struct record, state)}};
    const uint64_t constants[][2] = {{MIX, ~ODD}, {PRIME, ODD}};

    // The task; none behind the last.
    put_operation(program, BPF_MOV, CONTEXT, BPF_REG_1);
    put_load(program, TASK, CONTEXT, (struct btf_field){.offset = 8, .size = 8});
    struct bpf_insn unless_last = step_of(BPF_JMP | BPF_JNE | BPF_K, TASK, 0);
    unless_last.off = 2; /* over the exit */
    put(program, unless_last);
    put_exit(program);

    // The record.
    for (size_t i = 0; i < ARRAY_COUNT(constants); i++) {
        struct bpf_insn low = step_of(BPF_LD | BPF_IMM | BPF_DW, (unsigned)constants[i][0], 0);
        struct bpf_insn high = step_of(0, 0, 0);
        low.imm = (int32_t)(uint32_t)constants[i][1];
        high.imm = (int32_t)(uint32_t)(constants[i][1] >> 32);
        put(program, low);
        put(program, high);
    }
    for (size_t i = 0; i < ARRAY_COUNT(IDENTITY); i++) {
        program->failed |= !put_member(program, VALUE, TASK, "task_struct", IDENTITY[i].member);
        put_store(program, BPF_W, VALUE, IDENTITY[i].offset);
    }
    put_number(program, BPF_MOV, VALUE, 0);
    put_store(program, BPF_W, VALUE, offsetof(struct record, zero));
    for (size_t i = 0; i < ARRAY_COUNT(MIXED); i++) {
        put_source(program, &MIXED[i]);
        put_operation(program, BPF_XOR, MIX, VALUE);
        put_operation(program, BPF_MUL, MIX, PRIME);
    }
    put_store(program, BPF_DW, MIX, offsetof(struct record, mixed));
    put_source(program, &HANDED);
    put_store(program, BPF_DW, VALUE, offsetof(struct record, terminal));

    // bpf_seq_write(context->meta->seq, record, sizeof record)
    put_load(program, BPF_REG_1, CONTEXT, (struct btf_field){.offset = 0, .size = 8});
    program->failed |= !put_member(program, BPF_REG_1, BPF_REG_1, "bpf_iter_meta", "seq");
    put_operation(program, BPF_MOV, BPF_REG_2, BPF_REG_10);
    put_number(program, BPF_ADD, BPF_REG_2, -(int32_t)sizeof(struct record));
    put_number(program, BPF_MOV, BPF_REG_3, (int32_t)sizeof(struct record));
    struct bpf_insn write = step_of(BPF_JMP | BPF_CALL, 0, 0);
    write.imm = BPF_FUNC_seq_write;
    put(program, write);
    put_exit(program);
}

/* ---- the kernel's side ---- */

static int call(enum bpf_cmd command, union bpf_attr *attributes)
{
    long result;
    do
        result = syscall(SYS_bpf, command, attributes, sizeof *attributes);
    while (result < 0 && (errno == EINTR || errno == EAGAIN));
    return result < 0 ? -errno : (int)result;
}

/* Makes it for the layout that this kernel tells of, which is read whole and given back at once. */
static int load(const struct os *os)
{
    enum { LAYOUT_MOST = 64 * 1024 * 1024 };
    struct buffer layout = {0};
    bool cut = false;
    int result = linux_read_file(os, os->sys, "kernel/btf/vmlinux", 0, LAYOUT_MOST, &layout, &cut);
    if (result == 0 && cut)
        result = -EFBIG;
    if (result == 0) {
        struct btf *btf = btf_new(layout.bytes, layout.size);
        uint32_t function = btf != NULL ? btf_function(btf, "bpf_iter_task") : 0;
        struct program program = {.btf = btf, .failed = function == 0};
        if (function != 0)
            make_program(&program);
        btf_free(btf);
        union bpf_attr attributes;
        memset(&attributes, 0, sizeof attributes);
        attributes.prog_type = BPF_PROG_TYPE_TRACING;
        attributes.expected_attach_type = BPF_TRACE_ITER;
        attributes.attach_btf_id = function;
        attributes.insns = (uintptr_t)program.steps;
        attributes.insn_cnt = (uint32_t)program.count;
        attributes.license = (uintptr_t) "Dual MIT/GPL";
        memcpy(attributes.prog_name, "vitals_digests", sizeof "vitals_digests");
        result = program.failed ? -ENOTSUP : call(BPF_PROG_LOAD, &attributes);
    }
    buffer_done(&layout);
    return result;
}

int os_task_iterator_open(const struct os *os, struct os_task_iterator **out)
{
    uint64_t inode;
    if (!os->live || !os->bpf || linux_namespace(os, "self/ns/pid", &inode) < 0 ||
        inode != OS_FIRST_PID_NAMESPACE)
        return -ENOTSUP;
    struct os_task_iterator *iterator = memory_alloc(sizeof *iterator);
    if (iterator == NULL)
        return -ENOMEM;
    iterator->link = -1;
    iterator->program = load(os);
    int result = iterator->program;
    if (result >= 0) {
        union bpf_attr attributes;
        memset(&attributes, 0, sizeof attributes);
        attributes.link_create.prog_fd = (uint32_t)iterator->program;
        attributes.link_create.attach_type = BPF_TRACE_ITER;
        result = iterator->link = call(BPF_LINK_CREATE, &attributes);
    }
    if (result >= 0) {
        *out = iterator;
        return 0;
    }
    linux_trace(os, "BPF iterator of tasks", -result);
    os_task_iterator_close(iterator);
    return result;
}

void os_task_iterator_close(struct os_task_iterator *iterator)
{
    if (iterator == NULL)
        return;
    os_close_descriptor(iterator->link);
    os_close_descriptor(iterator->program);
    memory_free(iterator->records);
    memory_free(iterator->items);
    memory_free(iterator);
}

/* ---- a reading ---- */

/* All records; the kernel gives whole ones. Their number, or negative errno. */
static int64_t read_records(struct os_task_iterator *iterator)
{
    enum { MORE = 1024 }; // room for what one read can give
    const size_t each = sizeof *iterator->records;
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.iter_create.link_fd = (uint32_t)iterator->link;
    int file = call(BPF_ITER_CREATE, &attributes);
    size_t used = 0;
    int64_t got = file;
    while (got >= 0) {
        if (iterator->capacity - used < MORE) {
            size_t capacity = iterator->capacity * 2 + MORE;
            void *records = memory_resize(iterator->records, capacity, each);
            got = records != NULL ? 0 : -ENOMEM;
            if (records == NULL)
                break;
            iterator->records = records;
            iterator->capacity = capacity;
        }
        // The kernel gives up now and then, and goes on where it was.
        do
            got = read(file, iterator->records + used, (iterator->capacity - used) * each);
        while (got < 0 && (errno == EINTR || errno == EAGAIN));
        if (got < 0)
            got = -errno;
        else if ((size_t)got % each != 0)
            got = -EBADMSG;
        if (got <= 0)
            break;
        used += (size_t)got / each;
    }
    os_close_descriptor(file);
    return got < 0 ? got : (int64_t)used;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t mixed = (a ^ b) * ODD;
    return mixed ^ mixed >> 29;
}

static int by_process(const void *a, const void *b)
{
    const struct os_task_digest *one = a, *other = b;
    return one->pid < other->pid ? -1 : one->pid > other->pid;
}

int os_task_iterator_read(struct os_task_iterator *iterator, const struct os_task_digest **out,
                          size_t *count)
{
    int64_t records = read_records(iterator);
    if (records < 0)
        return (int)records;
    if (iterator->item_capacity < iterator->capacity) {
        void *grown = memory_resize(iterator->items, iterator->capacity, sizeof *iterator->items);
        if (grown == NULL)
            return -ENOMEM;
        iterator->items = grown;
        iterator->item_capacity = iterator->capacity;
    }

    // Threads come in the order of their own numbers, which is nearly that of processes.
    struct os_task_digest *items = iterator->items;
    bool sorted = true;
    for (size_t i = 0; i < (size_t)records; i++) {
        const struct record *record = &iterator->records[i];
        items[i] = (struct os_task_digest){
            .pid = record->process,
            .digest = mix(mix(record->mixed, record->thread), record->terminal),
            .runs = record->state == 0};
        sorted = sorted && (i == 0 || items[i - 1].pid <= record->process);
    }
    if (!sorted)
        qsort(items, (size_t)records, sizeof *items, by_process);

    // Those of one process are added up, so that their order says nothing.
    size_t joined = 0;
    for (size_t i = 0; i < (size_t)records; i++) {
        if (joined > 0 && items[joined - 1].pid == items[i].pid) {
            items[joined - 1].digest += items[i].digest;
            items[joined - 1].runs |= items[i].runs;
        } else {
            items[joined++] = items[i];
        }
    }
    if ((size_t)records > MANY_THREADS + joined * THREADS_EACH)
        return -EFBIG;
    *out = items;
    *count = joined;
    return 0;
}
