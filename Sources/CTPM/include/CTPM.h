#ifndef KEYCHAIND_CTPM_H
#define KEYCHAIND_CTPM_H

#include <stddef.h>
#include <stdint.h>

/// The longest that a sealed key is, in bytes.
#define KEYCHAIND_TPM_SEALED_SIZE 1024

/// Why a call has failed, in words for a person.
struct keychaind_tpm_failure {
    char reason[200];
};

/// Whether the libraries of tpm2-tss are installed; they are loaded with the first call.
int keychaind_tpm_is_installed(struct keychaind_tpm_failure *failure);

/// Seals a key under the storage key of a TPM, which only this TPM has.
///
/// Returns how many bytes were written to `sealed`, or -1. It blocks.
///
/// @param tcti how the TPM is reached, as tpm2-tss spells it: device:/dev/tpmrm0.
/// @param sealed room for KEYCHAIND_TPM_SEALED_SIZE bytes: TPM2B_PUBLIC, then TPM2B_PRIVATE.
int keychaind_tpm_seal(
    const char *tcti,
    const uint8_t *key,
    size_t key_size,
    uint8_t *sealed,
    struct keychaind_tpm_failure *failure
);

/// Gives a sealed key back. Returns how many bytes it has, or -1 also when they are more than there is room for. It blocks.
int keychaind_tpm_unseal(
    const char *tcti,
    const uint8_t *sealed,
    size_t sealed_size,
    uint8_t *key,
    size_t key_room,
    struct keychaind_tpm_failure *failure
);

#endif
