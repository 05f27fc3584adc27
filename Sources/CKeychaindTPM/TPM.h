#ifndef KEYCHAIND_TPM_H
#define KEYCHAIND_TPM_H

#include "CKeychaindTPM.h"

#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_rc.h>
#include <tss2/tss2_tctildr.h>

// The functions of tpm2-tss, loaded at run time: machines without a TPM need not have the libraries, and a daemon that
// does not use the TPM starts faster.
#define ESYS_FUNCTIONS(F) \
    F(Esys_Initialize) F(Esys_Finalize) F(Esys_Free) F(Esys_CreatePrimary) F(Esys_StartAuthSession) \
    F(Esys_TRSess_SetAttributes) F(Esys_Create) F(Esys_Load) F(Esys_Unseal) F(Esys_Sign) F(Esys_ECDH_ZGen) \
    F(Esys_FlushContext)
#define LOADER_FUNCTIONS(F) F(Tss2_TctiLdr_Initialize) F(Tss2_TctiLdr_Finalize)
#define MARSHAL_FUNCTIONS(F) \
    F(Tss2_MU_TPM2B_PUBLIC_Marshal) F(Tss2_MU_TPM2B_PUBLIC_Unmarshal) \
    F(Tss2_MU_TPM2B_PRIVATE_Marshal) F(Tss2_MU_TPM2B_PRIVATE_Unmarshal)
#define ERROR_FUNCTIONS(F) F(Tss2_RC_Decode)

#define DECLARE_EXTERN(name) extern __typeof__(&name) p_##name;
ESYS_FUNCTIONS(DECLARE_EXTERN)
LOADER_FUNCTIONS(DECLARE_EXTERN)
MARSHAL_FUNCTIONS(DECLARE_EXTERN)
ERROR_FUNCTIONS(DECLARE_EXTERN)

/// An open TPM, with its storage key and a session.
struct tpm {
    TSS2_TCTI_CONTEXT *transport;
    ESYS_CONTEXT *context;
    ESYS_TR storage_key;
    ESYS_TR session;
    struct keychaind_tpm_failure *failure;
    /// Whether the last failure is transient.
    int may_pass;
};

/// Room for a created object.
struct object {
    uint8_t *bytes;
    size_t *size;
};

/// An operation with an open TPM; returns whether it succeeded.
typedef int keychaind_tpm_operation(struct tpm *tpm, void *arguments);

/// Opens the TPM for an operation, again while failures are transient; one operation at a time.
int keychaind_tpm_perform(
    const char *tcti,
    keychaind_tpm_operation *operation,
    void *arguments,
    struct keychaind_tpm_failure *failure
);

/// Records a failure, and returns 0.
int keychaind_tpm_fail(
    struct keychaind_tpm_failure *failure,
    enum keychaind_tpm_failure_kind kind,
    const char *format,
    ...
) __attribute__((format(printf, 3, 4)));

/// Returns whether a call succeeded; otherwise records the failure.
int keychaind_tpm_check(struct tpm *tpm, TSS2_RC code, const char *what);

/// Likewise, for a call whose arguments are the caller's: the failure tells whether the TPM refused them.
int keychaind_tpm_check_input(struct tpm *tpm, TSS2_RC code, const char *what);

/// Creates an object under the storage key, and writes TPM2B_PUBLIC and TPM2B_PRIVATE.
///
/// @param public_part receives the public part, if not NULL.
int keychaind_tpm_create(
    struct tpm *tpm,
    const TPM2B_SENSITIVE_CREATE *sensitive,
    const TPM2B_PUBLIC *template,
    struct object object,
    TPMT_PUBLIC *public_part
);

/// Reads an object's TPM2B_PUBLIC and TPM2B_PRIVATE, which must fill the bytes.
int keychaind_tpm_parse(
    struct tpm *tpm,
    const uint8_t *bytes,
    size_t size,
    TPM2B_PUBLIC *public_part,
    TPM2B_PRIVATE *private_part
);

/// Loads an object under the storage key; the caller flushes the handle.
int keychaind_tpm_load(
    struct tpm *tpm,
    const TPM2B_PUBLIC *public_part,
    const TPM2B_PRIVATE *private_part,
    ESYS_TR *handle
);

#endif
