// vfork for the thread sanitizer, which makes a fork of it. Here too the parent waits for the child's execve, and then
// sees what the child has written, such as the reason for which no program was started.

#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noreturn)) void __interceptor__exit(int status);

// The variables of the function that calls vfork.
struct variables {
    char *place;
    size_t size;
    // In memory that the child shares.
    char *written;
};

// Of a child, whose memory is a copy.
static struct variables own;

struct call {
    void *state[5];
    struct variables variables;
};

static int resume(void *argument) {
    struct call *call = argument;
    own = call->variables;
    __builtin_longjmp(call->state, 1);
}

__attribute__((noinline)) pid_t vfork(void) {
    struct call call;
    // The caller's frame pointer, the address of return, and the caller's frame, which ends at its pointer.
    char **frame = __builtin_frame_address(0);
    struct variables caller = {.place = (char *)(frame + 2), .size = (size_t)(frame[0] - (char *)(frame + 2))};
    caller.written = mmap(NULL, caller.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (caller.written == MAP_FAILED) return -1;
    memcpy(caller.written, caller.place, caller.size);
    call.variables = caller;
    if (__builtin_setjmp(call.state) != 0) return 0;
    char stack[16 * 1024] __attribute__((aligned(16)));
    pid_t child = clone(resume, stack + sizeof stack, CLONE_VFORK | SIGCHLD, &call);
    memcpy(caller.place, caller.written, caller.size);
    munmap(caller.written, caller.size);
    return child;
}

void _exit(int status) {
    if (!own.place) __interceptor__exit(status);
    memcpy(own.written, own.place, own.size);
    syscall(SYS_exit_group, status);
    abort();
}
