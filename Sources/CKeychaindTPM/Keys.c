#include "TPM.h"

#include <string.h>

enum { coordinate_size = KEYCHAIND_TPM_P256_SIZE };

/// The attributes of a key: made in this TPM and bound to it, for ECDSA and Diffie-Hellman.
///
/// It has no password, which would have to lie beside it, so failures to guess that of another key do not block it.
static const TPMA_OBJECT key_attributes = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT
    | TPMA_OBJECT_SENSITIVEDATAORIGIN | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA | TPMA_OBJECT_SIGN_ENCRYPT
    | TPMA_OBJECT_DECRYPT;

static const TPMS_ECC_PARMS key_parameters = {
    .symmetric.algorithm = TPM2_ALG_NULL,
    .scheme.scheme = TPM2_ALG_NULL,
    .curveID = TPM2_ECC_NIST_P256,
    .kdf.scheme = TPM2_ALG_NULL,
};

/// Writes a number with leading zeros, which some TPMs omit.
static int write_number(struct tpm *tpm, const TPM2B_ECC_PARAMETER *number, uint8_t *bytes) {
    if (number->size > coordinate_size)
        return keychaind_tpm_fail(tpm->failure, KEYCHAIND_TPM_UNAVAILABLE, "the TPM returned a number out of range");
    memset(bytes, 0, coordinate_size - number->size);
    memcpy(bytes + coordinate_size - number->size, number->buffer, number->size);
    return 1;
}

struct making {
    struct object key;
    uint8_t *point;
};

static int make_key(struct tpm *tpm, void *arguments) {
    const struct making *making = arguments;
    TPM2B_SENSITIVE_CREATE sensitive = {0};
    TPM2B_PUBLIC template = {
        .publicArea = {
            .type = TPM2_ALG_ECC,
            .nameAlg = TPM2_ALG_SHA256,
            .objectAttributes = key_attributes,
            .parameters.eccDetail = key_parameters,
        },
    };
    TPMT_PUBLIC made;
    if (!keychaind_tpm_create(tpm, &sensitive, &template, making->key, &made)) return 0;
    making->point[0] = 4;
    return write_number(tpm, &made.unique.ecc.x, making->point + 1)
        && write_number(tpm, &made.unique.ecc.y, making->point + 1 + coordinate_size);
}

int keychaind_tpm_make_key(
    const char *tcti,
    uint8_t key[KEYCHAIND_TPM_OBJECT_SIZE],
    size_t *key_size,
    uint8_t point[1 + 2 * KEYCHAIND_TPM_P256_SIZE],
    struct keychaind_tpm_failure *failure
) {
    struct making making = {.key = {.bytes = key, .size = key_size}, .point = point};
    return keychaind_tpm_perform(tcti, make_key, &making, failure);
}

/// A use of a key: a digest to sign, or a point to multiply.
struct use {
    const uint8_t *key;
    size_t key_size;
    const uint8_t *input;
    uint8_t *output;
};

/// Whether an object is a key as make_key makes it: an object of another kind is not loaded.
static int is_key(const TPMT_PUBLIC *object) {
    const TPMS_ECC_PARMS *parameters = &object->parameters.eccDetail;
    return object->type == TPM2_ALG_ECC && object->nameAlg == TPM2_ALG_SHA256
        && object->objectAttributes == key_attributes && object->authPolicy.size == 0
        && parameters->symmetric.algorithm == key_parameters.symmetric.algorithm
        && parameters->scheme.scheme == key_parameters.scheme.scheme && parameters->curveID == key_parameters.curveID
        && parameters->kdf.scheme == key_parameters.kdf.scheme;
}

static int load_key(struct tpm *tpm, const struct use *use, ESYS_TR *handle) {
    TPM2B_PUBLIC public_part;
    TPM2B_PRIVATE private_part;
    if (!keychaind_tpm_parse(tpm, use->key, use->key_size, &public_part, &private_part)) return 0;
    if (!is_key(&public_part.publicArea))
        return keychaind_tpm_fail(tpm->failure, KEYCHAIND_TPM_INVALID, "the data is not a P-256 key of a TPM");
    return keychaind_tpm_load(tpm, &public_part, &private_part, handle);
}

static int sign(struct tpm *tpm, void *arguments) {
    const struct use *use = arguments;
    const TPMT_SIG_SCHEME scheme = {.scheme = TPM2_ALG_ECDSA, .details.ecdsa.hashAlg = TPM2_ALG_SHA256};
    const TPMT_TK_HASHCHECK no_ticket = {.tag = TPM2_ST_HASHCHECK, .hierarchy = TPM2_RH_NULL};
    TPM2B_DIGEST digest = {.size = coordinate_size};
    TPMT_SIGNATURE *signature = NULL;
    ESYS_TR key = ESYS_TR_NONE;
    if (!load_key(tpm, use, &key)) return 0;
    memcpy(digest.buffer, use->input, coordinate_size);
    TSS2_RC code = p_Esys_Sign(
        tpm->context, key, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, &digest, &scheme, &no_ticket, &signature
    );
    p_Esys_FlushContext(tpm->context, key);
    if (!keychaind_tpm_check(tpm, code, "sign")) return 0;
    int is_done = write_number(tpm, &signature->signature.ecdsa.signatureR, use->output)
        && write_number(tpm, &signature->signature.ecdsa.signatureS, use->output + coordinate_size);
    p_Esys_Free(signature);
    return is_done;
}

int keychaind_tpm_sign(
    const char *tcti,
    const uint8_t *key,
    size_t key_size,
    const uint8_t digest[KEYCHAIND_TPM_P256_SIZE],
    uint8_t signature[2 * KEYCHAIND_TPM_P256_SIZE],
    struct keychaind_tpm_failure *failure
) {
    struct use use = {.key = key, .key_size = key_size, .input = digest, .output = signature};
    return keychaind_tpm_perform(tcti, sign, &use, failure);
}

static int agree(struct tpm *tpm, void *arguments) {
    const struct use *use = arguments;
    TPM2B_ECC_POINT point = {.point = {.x.size = coordinate_size, .y.size = coordinate_size}};
    TPM2B_ECC_POINT *product = NULL;
    ESYS_TR key = ESYS_TR_NONE;
    if (!load_key(tpm, use, &key)) return 0;
    memcpy(point.point.x.buffer, use->input + 1, coordinate_size);
    memcpy(point.point.y.buffer, use->input + 1 + coordinate_size, coordinate_size);
    TSS2_RC code =
        p_Esys_ECDH_ZGen(tpm->context, key, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, &point, &product);
    p_Esys_FlushContext(tpm->context, key);
    if (!keychaind_tpm_check_input(tpm, code, "agree on a secret")) return 0;
    int is_done = write_number(tpm, &product->point.x, use->output);
    explicit_bzero(product, sizeof *product);
    p_Esys_Free(product);
    return is_done;
}

int keychaind_tpm_agree(
    const char *tcti,
    const uint8_t *key,
    size_t key_size,
    const uint8_t point[1 + 2 * KEYCHAIND_TPM_P256_SIZE],
    uint8_t shared[KEYCHAIND_TPM_P256_SIZE],
    struct keychaind_tpm_failure *failure
) {
    struct use use = {.key = key, .key_size = key_size, .input = point, .output = shared};
    return keychaind_tpm_perform(tcti, agree, &use, failure);
}
