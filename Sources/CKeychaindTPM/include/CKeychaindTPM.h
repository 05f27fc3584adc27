#ifndef KEYCHAIND_CTPM_H
#define KEYCHAIND_CTPM_H

#include <stddef.h>
#include <stdint.h>

/// The maximum size of a sealed key in bytes.
#define KEYCHAIND_TPM_SEALED_SIZE 1024

/// The reason of a failure, for people.
struct keychaind_tpm_failure {
    char reason[200];
};

/// Whether the libraries of tpm2-tss are installed; the first call loads them.
int keychaind_tpm_is_installed(struct keychaind_tpm_failure *failure);

/// Seals a key under the storage key of this TPM; blocks.
///
/// Returns the number of bytes written to `sealed`, or -1.
///
/// @param tcti the tpm2-tss transport, such as device:/dev/tpmrm0.
/// @param sealed room for KEYCHAIND_TPM_SEALED_SIZE bytes: TPM2B_PUBLIC, then TPM2B_PRIVATE.
int keychaind_tpm_seal(
    const char *tcti,
    const uint8_t *key,
    size_t key_size,
    uint8_t *sealed,
    struct keychaind_tpm_failure *failure
);

/// Unseals a key; blocks. Returns its size in bytes, or -1, also if it exceeds `key_room`.
int keychaind_tpm_unseal(
    const char *tcti,
    const uint8_t *sealed,
    size_t sealed_size,
    uint8_t *key,
    size_t key_room,
    struct keychaind_tpm_failure *failure
);

#endif
