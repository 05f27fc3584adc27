// A clock that does not count the time for which a slow machine stalls a test: a library for LD_PRELOAD.
//
//     cc -shared -fPIC -O1 -o clock.so clock.c -ldl
//     KEYCHAIND_CLOCK=CONTROL LD_PRELOAD=clock.so keychaind …
//
// Between two looks of the program at its clocks since boot, at most STEP passes, however long it or its test waits for
// a processor. So a limit of seconds is over after thousands of looks, or when the test says that time has passed. A
// wait of at most SHORT takes as long as it says. The clock of the day is the real one.
//
// CONTROL is a file of struct control: the test writes into it how much time has passed, and a restarted program goes
// on with the time of the one before. Without it, the time is that of the process alone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

// In nanoseconds, as all times here.
#define SECOND INT64_C(1000000000)
#define STEP INT64_C(2000000)
#define SHORT SECOND

struct control {
    _Atomic int64_t passed; // the time that the test has let pass; only the test writes it
    int64_t counted;        // how much of it is in `behind`
    int64_t last;           // the last look, by the real clock
    int64_t behind;         // by how much the program's clocks differ from the real ones
    _Atomic int32_t holder; // the process that looks; 0 for none
};

// A timer that is due after a short time.
struct alarm {
    int64_t instant; // by the program's clock; 0 for none
    int64_t due;     // by the real clock
};

enum { DESCRIPTORS = 1024 };

static struct control own;
static struct control *control = &own;
static char timers[DESCRIPTORS]; // whether a descriptor is a timer of a clock since boot
static struct alarm alarms[DESCRIPTORS];
static int alarm_end; // one more than the highest descriptor that has had an alarm

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, name)

__attribute__((constructor)) static void begin(void) {
    // Programs that this one starts have the real clock.
    unsetenv("LD_PRELOAD");
    const char *path = getenv("KEYCHAIND_CLOCK");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) control = page;
    close(file);
}

static int64_t nanoseconds(const struct timespec *time) { return time->tv_sec * SECOND + time->tv_nsec; }

static struct timespec timespec(int64_t time) {
    return (struct timespec){.tv_sec = time / SECOND, .tv_nsec = time % SECOND};
}

// A killed process may have left the lock taken.
static void lock(void) {
    int32_t own_id = getpid(), holder = 0;
    while (!atomic_compare_exchange_strong(&control->holder, &holder, own_id)) {
        int is_left = holder != own_id && kill(holder, 0) != 0;
        if (!is_left || !atomic_compare_exchange_strong(&control->holder, &holder, 0)) sched_yield();
        holder = 0;
    }
}

static void unlock(void) { control->holder = 0; }

// The real time. The program's clocks since boot are one, so none of them counts the time of a sleeping machine.
static int64_t real_time(void) {
    struct timespec time;
    // Not the C library's, which this one replaces.
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return nanoseconds(&time);
}

// A wait until an instant of the program's clock is over.
static void reach(int64_t instant) {
    int64_t rest = instant - (control->last - control->behind);
    if (rest > 0) control->behind -= rest;
}

// Looks at the clock; called with the lock.
static int64_t look(void) {
    int64_t now = real_time();
    // At the first look, nothing has passed.
    int64_t since = control->last ? now - control->last : 0;
    if (since > STEP) control->behind += since - STEP;
    control->last = now;
    int64_t passed = control->passed;
    control->behind -= passed - control->counted;
    control->counted = passed;
    for (int timer = 0; timer < alarm_end; timer++) {
        if (!alarms[timer].instant || alarms[timer].due > now) continue;
        reach(alarms[timer].instant);
        alarms[timer].instant = 0;
    }
    return now - control->behind;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME) return (int)syscall(SYS_clock_gettime, clock, time);
    lock();
    *time = timespec(look());
    unlock();
    return 0;
}

int timerfd_create(int clock, int flags) {
    REAL(int, "timerfd_create", int, int);
    int timer = real(clock, flags);
    if (timer >= 0 && timer < DESCRIPTORS) timers[timer] = clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME;
    return timer;
}

int timerfd_settime(int timer, int flags, const struct itimerspec *value, struct itimerspec *old) {
    REAL(int, "timerfd_settime", int, int, const struct itimerspec *, struct itimerspec *);
    int64_t instant = nanoseconds(&value->it_value);
    if (timer < 0 || timer >= DESCRIPTORS || !timers[timer] || !(flags & TFD_TIMER_ABSTIME) || instant == 0) {
        return real(timer, flags, value, old);
    }
    lock();
    int64_t delay = instant - look();
    // Zero would end the timer.
    if (delay <= 0) delay = 1;
    alarms[timer] = (struct alarm){.instant = delay <= SHORT ? instant : 0, .due = control->last + delay};
    if (alarm_end <= timer) alarm_end = timer + 1;
    unlock();
    struct itimerspec relative = {.it_interval = value->it_interval, .it_value = timespec(delay)};
    return real(timer, flags & ~TFD_TIMER_ABSTIME, &relative, old);
}

// No clock since boot counts as many seconds as that of the day, so the deadline says which one the condition has.
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline) {
    REAL(int, "pthread_cond_timedwait", pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (deadline->tv_sec > 1000000000) return real(condition, mutex, deadline);
    lock();
    int64_t delay = nanoseconds(deadline) - look(), end = control->last + delay;
    unlock();
    struct timespec moved = timespec(end);
    int status = real(condition, mutex, &moved);
    if (status == ETIMEDOUT && delay <= SHORT) {
        lock();
        look();
        reach(nanoseconds(deadline));
        unlock();
    }
    return status;
}
