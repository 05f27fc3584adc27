#pragma once

#include <linux/sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/shm.h>

// Macros with casts or arguments, which Swift does not import.

static const uint32_t keychaind_seccomp_allow = SCMP_ACT_ALLOW;
static const uint32_t keychaind_seccomp_kill = SCMP_ACT_KILL_PROCESS;
static const uint32_t keychaind_seccomp_native = SCMP_ARCH_NATIVE;

static inline uint32_t keychaind_seccomp_refuse(uint16_t error) { return SCMP_ACT_ERRNO(error); }

// The namespaces that clone can create. CLONE_NEWTIME is missing: in clone, its bit belongs to the exit signal.

static const uint64_t keychaind_new_namespaces[] = {
    CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET,
};

static inline const uint64_t *keychaind_namespace_flags(size_t *count) {
    *count = sizeof keychaind_new_namespaces / sizeof *keychaind_new_namespaces;
    return keychaind_new_namespaces;
}

static const uint64_t keychaind_shm_exec = SHM_EXEC;
