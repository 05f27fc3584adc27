#include "TPM.h"

#include <string.h>

struct sealing {
    const uint8_t *key;
    size_t key_size;
    struct object sealed;
};

static int seal(struct tpm *tpm, void *arguments) {
    const struct sealing *sealing = arguments;
    TPM2B_SENSITIVE_CREATE sensitive = {.sensitive.data.size = (UINT16)sealing->key_size};
    TPM2B_PUBLIC template = {
        .publicArea = {
            .type = TPM2_ALG_KEYEDHASH,
            .nameAlg = TPM2_ALG_SHA256,
            .objectAttributes =
                TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA,
            .parameters.keyedHashDetail.scheme.scheme = TPM2_ALG_NULL,
        },
    };
    memcpy(sensitive.sensitive.data.buffer, sealing->key, sealing->key_size);
    int is_done = keychaind_tpm_create(tpm, &sensitive, &template, sealing->sealed, NULL);
    explicit_bzero(&sensitive, sizeof sensitive);
    return is_done;
}

int keychaind_tpm_seal(
    const char *tcti,
    const uint8_t *key,
    size_t key_size,
    uint8_t sealed[KEYCHAIND_TPM_OBJECT_SIZE],
    size_t *sealed_size,
    struct keychaind_tpm_failure *failure
) {
    if (key_size > sizeof((TPM2B_SENSITIVE_DATA *)NULL)->buffer)
        return keychaind_tpm_fail(failure, KEYCHAIND_TPM_INVALID, "the key is too long");
    struct sealing sealing = {
        .key = key, .key_size = key_size, .sealed = {.bytes = sealed, .size = sealed_size},
    };
    return keychaind_tpm_perform(tcti, seal, &sealing, failure);
}

struct unsealing {
    const uint8_t *sealed;
    size_t sealed_size;
    uint8_t *key;
    size_t key_size;
};

static int unseal(struct tpm *tpm, void *arguments) {
    const struct unsealing *unsealing = arguments;
    TPM2B_PUBLIC public_part;
    TPM2B_PRIVATE private_part;
    TPM2B_SENSITIVE_DATA *data = NULL;
    ESYS_TR object = ESYS_TR_NONE;
    if (!keychaind_tpm_parse(tpm, unsealing->sealed, unsealing->sealed_size, &public_part, &private_part)) return 0;
    if (!keychaind_tpm_load(tpm, &public_part, &private_part, &object)) return 0;
    TSS2_RC code = p_Esys_Unseal(tpm->context, object, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, &data);
    p_Esys_FlushContext(tpm->context, object);
    if (!keychaind_tpm_check(tpm, code, "unseal the key")) return 0;
    int is_done = data->size == unsealing->key_size;
    if (is_done)
        memcpy(unsealing->key, data->buffer, data->size);
    else
        keychaind_tpm_fail(tpm->failure, KEYCHAIND_TPM_INVALID, "the sealed key has %u bytes", data->size);
    explicit_bzero(data, sizeof *data);
    p_Esys_Free(data);
    return is_done;
}

int keychaind_tpm_unseal(
    const char *tcti,
    const uint8_t *sealed,
    size_t sealed_size,
    uint8_t *key,
    size_t key_size,
    struct keychaind_tpm_failure *failure
) {
    struct unsealing unsealing = {.sealed = sealed, .sealed_size = sealed_size, .key = key, .key_size = key_size};
    return keychaind_tpm_perform(tcti, unseal, &unsealing, failure);
}
