#ifndef KEYCHAIND_CTPM_H
#define KEYCHAIND_CTPM_H

#include <stddef.h>
#include <stdint.h>

/// The maximum size of an object that only its TPM can load, in bytes: TPM2B_PUBLIC, then TPM2B_PRIVATE.
#define KEYCHAIND_TPM_OBJECT_SIZE 1024

/// The size of a coordinate, a scalar and a digest of P-256.
#define KEYCHAIND_TPM_P256_SIZE 32

enum keychaind_tpm_failure_kind {
    /// There is no TPM, or it could not do it.
    KEYCHAIND_TPM_UNAVAILABLE,
    /// The object is of another TPM, or of this one before it was cleared.
    KEYCHAIND_TPM_FOREIGN,
    /// The bytes are not such an object, or the point is not on the curve.
    KEYCHAIND_TPM_INVALID,
};

struct keychaind_tpm_failure {
    enum keychaind_tpm_failure_kind kind;
    /// For people.
    char reason[256];
};

/// Whether the libraries of tpm2-tss are installed; the first call loads them.
int keychaind_tpm_is_installed(struct keychaind_tpm_failure *failure);

// The functions below block. They take the TPM's transport in the syntax of tpm2-tss, such as device:/dev/tpmrm0, and
// return whether they succeeded.

/// Seals a key under the storage key of this TPM.
int keychaind_tpm_seal(
    const char *tcti,
    const uint8_t *key,
    size_t key_size,
    uint8_t sealed[KEYCHAIND_TPM_OBJECT_SIZE],
    size_t *sealed_size,
    struct keychaind_tpm_failure *failure
);

/// Unseals a key, which must have the given size.
int keychaind_tpm_unseal(
    const char *tcti,
    const uint8_t *sealed,
    size_t sealed_size,
    uint8_t *key,
    size_t key_size,
    struct keychaind_tpm_failure *failure
);

/// Makes a P-256 key in the TPM, which never leaves it.
///
/// @param point receives 4, x and y.
int keychaind_tpm_make_key(
    const char *tcti,
    uint8_t key[KEYCHAIND_TPM_OBJECT_SIZE],
    size_t *key_size,
    uint8_t point[1 + 2 * KEYCHAIND_TPM_P256_SIZE],
    struct keychaind_tpm_failure *failure
);

/// Signs a digest by ECDSA.
///
/// @param signature receives r and s.
int keychaind_tpm_sign(
    const char *tcti,
    const uint8_t *key,
    size_t key_size,
    const uint8_t digest[KEYCHAIND_TPM_P256_SIZE],
    uint8_t signature[2 * KEYCHAIND_TPM_P256_SIZE],
    struct keychaind_tpm_failure *failure
);

/// Multiplies a point by a key (Diffie-Hellman).
///
/// @param point 4, x and y.
/// @param shared receives the x coordinate of the product.
int keychaind_tpm_agree(
    const char *tcti,
    const uint8_t *key,
    size_t key_size,
    const uint8_t point[1 + 2 * KEYCHAIND_TPM_P256_SIZE],
    uint8_t shared[KEYCHAIND_TPM_P256_SIZE],
    struct keychaind_tpm_failure *failure
);

#endif
