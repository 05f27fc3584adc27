// Tells the thread sanitizer about a contended Swift Mutex. The runtime, which waits for it with a futex, is not
// instrumented: without this, whatever the lock protects looks like a race.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define SELF __attribute__((swift_context)) void *mutex
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// They take the place of the runtime's in the program that they are linked into.
__attribute__((swiftcall)) void lock(uint32_t thread, SELF) __asm__(LOCK);
__attribute__((swiftcall)) bool try_lock(SELF) __asm__(TRY_LOCK);
__attribute__((swiftcall)) void unlock(SELF) __asm__(UNLOCK);

__attribute__((swiftcall)) void lock(uint32_t thread, SELF) {
    __attribute__((swiftcall)) void (*runtime)(uint32_t, SELF) = dlsym(RTLD_NEXT, LOCK);
    runtime(thread, mutex);
    __tsan_acquire(mutex);
}

__attribute__((swiftcall)) bool try_lock(SELF) {
    __attribute__((swiftcall)) bool (*runtime)(SELF) = dlsym(RTLD_NEXT, TRY_LOCK);
    bool is_locked = runtime(mutex);
    if (is_locked) __tsan_acquire(mutex);
    return is_locked;
}

__attribute__((swiftcall)) void unlock(SELF) {
    __attribute__((swiftcall)) void (*runtime)(SELF) = dlsym(RTLD_NEXT, UNLOCK);
    __tsan_release(mutex);
    runtime(mutex);
}
