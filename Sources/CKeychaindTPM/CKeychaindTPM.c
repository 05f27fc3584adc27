#include "CKeychaindTPM.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_rc.h>
#include <tss2/tss2_tctildr.h>

// The functions of tpm2-tss, loaded at run time: machines without a TPM need not have the libraries, and a daemon that
// does not use the TPM starts faster.
#define ESYS_FUNCTIONS(F) \
    F(Esys_Initialize) F(Esys_Finalize) F(Esys_Free) F(Esys_CreatePrimary) F(Esys_StartAuthSession) \
    F(Esys_TRSess_SetAttributes) F(Esys_Create) F(Esys_Load) F(Esys_Unseal) F(Esys_FlushContext)
#define LOADER_FUNCTIONS(F) F(Tss2_TctiLdr_Initialize) F(Tss2_TctiLdr_Finalize)
#define MARSHAL_FUNCTIONS(F) \
    F(Tss2_MU_TPM2B_PUBLIC_Marshal) F(Tss2_MU_TPM2B_PUBLIC_Unmarshal) \
    F(Tss2_MU_TPM2B_PRIVATE_Marshal) F(Tss2_MU_TPM2B_PRIVATE_Unmarshal)
#define ERROR_FUNCTIONS(F) F(Tss2_RC_Decode)

#define DECLARE(name) static __typeof__(&name) p_##name;
ESYS_FUNCTIONS(DECLARE)
LOADER_FUNCTIONS(DECLARE)
MARSHAL_FUNCTIONS(DECLARE)
ERROR_FUNCTIONS(DECLARE)

static pthread_once_t loading = PTHREAD_ONCE_INIT;
static char loading_failure[120];

static void load_libraries(void) {
    void *library = NULL;
    const char *missing = NULL;
#define RESOLVE(name) \
    if (library && !missing && !(*(void **)&p_##name = dlsym(library, #name))) missing = #name;
#define OPEN(file) \
    library = missing ? NULL : dlopen(file, RTLD_NOW | RTLD_LOCAL); \
    if (!library && !missing) missing = file;
    OPEN("libtss2-esys.so.0")
    ESYS_FUNCTIONS(RESOLVE)
    OPEN("libtss2-tctildr.so.0")
    LOADER_FUNCTIONS(RESOLVE)
    OPEN("libtss2-mu.so.0")
    MARSHAL_FUNCTIONS(RESOLVE)
    OPEN("libtss2-rc.so.0")
    ERROR_FUNCTIONS(RESOLVE)
    if (missing) snprintf(loading_failure, sizeof loading_failure, "tpm2-tss is not installed (%s)", missing);
}

static void fail(struct keychaind_tpm_failure *failure, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure->reason, sizeof failure->reason, format, arguments);
    va_end(arguments);
}

int keychaind_tpm_is_installed(struct keychaind_tpm_failure *failure) {
    pthread_once(&loading, load_libraries);
    if (!loading_failure[0]) return 1;
    fail(failure, "%s", loading_failure);
    return 0;
}

/// The number of attempts while failures are transient.
enum { attempt_limit = 3 };

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

/// Whether a failure is transient: of the transport, or a warning of the TPM.
static int is_passing(TSS2_RC code) {
    TSS2_RC layer = code & TSS2_RC_LAYER_MASK;
    const TSS2_RC kind = TPM2_RC_FMT1 | TPM2_RC_WARN;
    return layer == TSS2_TCTI_RC_LAYER || (layer == TSS2_TPM_RC_LAYER && (code & kind) == TPM2_RC_WARN);
}

/// Returns whether a call succeeded; otherwise records the failure.
static int check(struct tpm *tpm, TSS2_RC code, const char *what) {
    if (code == TSS2_RC_SUCCESS) return 1;
    tpm->may_pass = is_passing(code);
    fail(tpm->failure, "the TPM could not %s: %s", what, p_Tss2_RC_Decode(code));
    return 0;
}

static void close_tpm(struct tpm *tpm) {
    if (tpm->context && tpm->session != ESYS_TR_NONE) p_Esys_FlushContext(tpm->context, tpm->session);
    if (tpm->context && tpm->storage_key != ESYS_TR_NONE) p_Esys_FlushContext(tpm->context, tpm->storage_key);
    if (tpm->context) p_Esys_Finalize(&tpm->context);
    if (tpm->transport) p_Tss2_TctiLdr_Finalize(&tpm->transport);
}

/// Derives the storage key, always the same from the same seed and template; it never leaves the TPM.
///
/// The template is that of the TCG guidance for P-256 storage keys, which other tools use too.
static int make_storage_key(struct tpm *tpm) {
    TPM2B_SENSITIVE_CREATE sensitive = {0};
    TPM2B_DATA outside = {0};
    TPML_PCR_SELECTION registers = {0};
    TPM2B_PUBLIC template = {
        .publicArea = {
            .type = TPM2_ALG_ECC,
            .nameAlg = TPM2_ALG_SHA256,
            .objectAttributes = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN
                | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT,
            .parameters.eccDetail = {
                .symmetric = {.algorithm = TPM2_ALG_AES, .keyBits.aes = 128, .mode.aes = TPM2_ALG_CFB},
                .scheme.scheme = TPM2_ALG_NULL,
                .curveID = TPM2_ECC_NIST_P256,
                .kdf.scheme = TPM2_ALG_NULL,
            },
        },
    };
    TSS2_RC code = p_Esys_CreatePrimary(
        tpm->context, ESYS_TR_RH_OWNER, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &sensitive, &template, &outside,
        &registers, &tpm->storage_key, NULL, NULL, NULL, NULL
    );
    return check(tpm, code, "make its storage key");
}

/// Starts a session, salted with the storage key, that encrypts data to and from the TPM.
static int start_session(struct tpm *tpm) {
    TPMT_SYM_DEF cipher = {.algorithm = TPM2_ALG_AES, .keyBits.aes = 128, .mode.aes = TPM2_ALG_CFB};
    TSS2_RC code = p_Esys_StartAuthSession(
        tpm->context, tpm->storage_key, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, NULL, TPM2_SE_HMAC,
        &cipher, TPM2_ALG_SHA256, &tpm->session
    );
    if (!check(tpm, code, "start a session")) return 0;
    const TPMA_SESSION attributes = TPMA_SESSION_DECRYPT | TPMA_SESSION_ENCRYPT | TPMA_SESSION_CONTINUESESSION;
    code = p_Esys_TRSess_SetAttributes(tpm->context, tpm->session, attributes, 0xff);
    return check(tpm, code, "encrypt a session");
}

static int open_tpm(struct tpm *tpm, const char *tcti, struct keychaind_tpm_failure *failure) {
    *tpm = (struct tpm){.storage_key = ESYS_TR_NONE, .session = ESYS_TR_NONE, .failure = failure};
    if (!keychaind_tpm_is_installed(failure)) return 0;
    return check(tpm, p_Tss2_TctiLdr_Initialize(tcti, &tpm->transport), "be reached")
        && check(tpm, p_Esys_Initialize(&tpm->context, tpm->transport, NULL), "be used") && make_storage_key(tpm)
        && start_session(tpm);
}

static int seal(struct tpm *tpm, const uint8_t *key, size_t key_size, uint8_t *sealed) {
    TPM2B_DATA outside = {0};
    TPML_PCR_SELECTION registers = {0};
    TPM2B_SENSITIVE_CREATE sensitive = {.sensitive.data.size = (UINT16)key_size};
    TPM2B_PUBLIC template = {
        .publicArea = {
            .type = TPM2_ALG_KEYEDHASH,
            .nameAlg = TPM2_ALG_SHA256,
            .objectAttributes =
                TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA,
            .parameters.keyedHashDetail.scheme.scheme = TPM2_ALG_NULL,
        },
    };
    TPM2B_PUBLIC *public_part = NULL;
    TPM2B_PRIVATE *private_part = NULL;
    memcpy(sensitive.sensitive.data.buffer, key, key_size);
    TSS2_RC code = p_Esys_Create(
        tpm->context, tpm->storage_key, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, &sensitive, &template, &outside,
        &registers, &private_part, &public_part, NULL, NULL, NULL
    );
    explicit_bzero(&sensitive, sizeof sensitive);
    size_t size = 0;
    int is_done = check(tpm, code, "seal a key");
    if (is_done) {
        code = p_Tss2_MU_TPM2B_PUBLIC_Marshal(public_part, sealed, KEYCHAIND_TPM_SEALED_SIZE, &size);
        if (code == TSS2_RC_SUCCESS)
            code = p_Tss2_MU_TPM2B_PRIVATE_Marshal(private_part, sealed, KEYCHAIND_TPM_SEALED_SIZE, &size);
        is_done = check(tpm, code, "marshal a sealed key");
    }
    p_Esys_Free(public_part);
    p_Esys_Free(private_part);
    return is_done ? (int)size : -1;
}

static int unseal(struct tpm *tpm, const uint8_t *sealed, size_t sealed_size, uint8_t *key, size_t key_room) {
    TPM2B_PUBLIC public_part = {0};
    TPM2B_PRIVATE private_part = {0};
    TPM2B_SENSITIVE_DATA *data = NULL;
    ESYS_TR object = ESYS_TR_NONE;
    size_t offset = 0;
    TSS2_RC code = p_Tss2_MU_TPM2B_PUBLIC_Unmarshal(sealed, sealed_size, &offset, &public_part);
    if (code == TSS2_RC_SUCCESS)
        code = p_Tss2_MU_TPM2B_PRIVATE_Unmarshal(sealed, sealed_size, &offset, &private_part);
    if (!check(tpm, code, "parse the sealed key")) return -1;
    code = p_Esys_Load(
        tpm->context, tpm->storage_key, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, &private_part, &public_part, &object
    );
    if (!check(tpm, code, "load the sealed key; it is of another machine, or the TPM was reset")) return -1;
    code = p_Esys_Unseal(tpm->context, object, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, &data);
    p_Esys_FlushContext(tpm->context, object);
    if (!check(tpm, code, "unseal the key")) return -1;
    int size = data->size <= key_room ? data->size : -1;
    if (size >= 0)
        memcpy(key, data->buffer, data->size);
    else
        fail(tpm->failure, "the sealed key is too long");
    explicit_bzero(data, sizeof *data);
    p_Esys_Free(data);
    return size;
}

int keychaind_tpm_seal(
    const char *tcti,
    const uint8_t *key,
    size_t key_size,
    uint8_t *sealed,
    struct keychaind_tpm_failure *failure
) {
    struct tpm tpm;
    int size = -1;
    if (key_size > sizeof((TPM2B_SENSITIVE_DATA *)NULL)->buffer)
        return fail(failure, "the key is too long"), -1;
    if (open_tpm(&tpm, tcti, failure)) size = seal(&tpm, key, key_size, sealed);
    close_tpm(&tpm);
    return size;
}

int keychaind_tpm_unseal(
    const char *tcti,
    const uint8_t *sealed,
    size_t sealed_size,
    uint8_t *key,
    size_t key_room,
    struct keychaind_tpm_failure *failure
) {
    struct tpm tpm;
    int size = -1;
    // A transient failure would leave the keychain locked for the whole session.
    for (int attempt = 0; attempt < attempt_limit; attempt++) {
        if (open_tpm(&tpm, tcti, failure)) size = unseal(&tpm, sealed, sealed_size, key, key_room);
        close_tpm(&tpm);
        if (size >= 0 || !tpm.may_pass) break;
    }
    return size;
}
