#include "TPM.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEFINE(name) __typeof__(&name) p_##name;
ESYS_FUNCTIONS(DEFINE)
LOADER_FUNCTIONS(DEFINE)
MARSHAL_FUNCTIONS(DEFINE)
ERROR_FUNCTIONS(DEFINE)

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

int keychaind_tpm_is_installed(struct keychaind_tpm_failure *failure) {
    pthread_once(&loading, load_libraries);
    if (!loading_failure[0]) return 1;
    return keychaind_tpm_fail(failure, KEYCHAIND_TPM_UNAVAILABLE, "%s", loading_failure);
}

// MARK: Failures

int keychaind_tpm_fail(
    struct keychaind_tpm_failure *failure,
    enum keychaind_tpm_failure_kind kind,
    const char *format,
    ...
) {
    va_list arguments;
    va_start(arguments, format);
    failure->kind = kind;
    vsnprintf(failure->reason, sizeof failure->reason, format, arguments);
    va_end(arguments);
    return 0;
}

static int is_of_tpm(TSS2_RC code) {
    return (code & TSS2_RC_LAYER_MASK) == TSS2_TPM_RC_LAYER;
}

/// Whether a failure is transient: of the transport, or a warning of the TPM.
static int is_passing(TSS2_RC code) {
    const TSS2_RC kind = TPM2_RC_FMT1 | TPM2_RC_WARN;
    return (code & TSS2_RC_LAYER_MASK) == TSS2_TCTI_RC_LAYER || (is_of_tpm(code) && (code & kind) == TPM2_RC_WARN);
}

int keychaind_tpm_check(struct tpm *tpm, TSS2_RC code, const char *what) {
    if (code == TSS2_RC_SUCCESS) return 1;
    tpm->may_pass = is_passing(code);
    const char *reason = p_Tss2_RC_Decode(code);
    return keychaind_tpm_fail(tpm->failure, KEYCHAIND_TPM_UNAVAILABLE, "the TPM could not %s: %s", what, reason);
}

int keychaind_tpm_check_input(struct tpm *tpm, TSS2_RC code, const char *what) {
    if (keychaind_tpm_check(tpm, code, what)) return 1;
    const TSS2_RC of_parameter = TPM2_RC_FMT1 | TPM2_RC_P;
    if (is_of_tpm(code) && (code & of_parameter) == of_parameter) {
        tpm->failure->kind = KEYCHAIND_TPM_INVALID;
        // Without the number of the parameter.
        if ((code & (TPM2_RC_FMT1 | 0x3f)) == TPM2_RC_INTEGRITY)
            return keychaind_tpm_fail(
                tpm->failure, KEYCHAIND_TPM_FOREIGN, "the key is of another machine, or the TPM was reset: %s",
                p_Tss2_RC_Decode(code)
            );
    }
    return 0;
}

// MARK: An open TPM

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
    return keychaind_tpm_check(tpm, code, "make its storage key");
}

/// Starts a session, salted with the storage key, that encrypts data to and from the TPM.
static int start_session(struct tpm *tpm) {
    TPMT_SYM_DEF cipher = {.algorithm = TPM2_ALG_AES, .keyBits.aes = 128, .mode.aes = TPM2_ALG_CFB};
    TSS2_RC code = p_Esys_StartAuthSession(
        tpm->context, tpm->storage_key, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, NULL, TPM2_SE_HMAC,
        &cipher, TPM2_ALG_SHA256, &tpm->session
    );
    if (!keychaind_tpm_check(tpm, code, "start a session")) return 0;
    const TPMA_SESSION attributes = TPMA_SESSION_DECRYPT | TPMA_SESSION_ENCRYPT | TPMA_SESSION_CONTINUESESSION;
    code = p_Esys_TRSess_SetAttributes(tpm->context, tpm->session, attributes, 0xff);
    return keychaind_tpm_check(tpm, code, "encrypt a session");
}

static int open_tpm(struct tpm *tpm, const char *tcti, struct keychaind_tpm_failure *failure) {
    *tpm = (struct tpm){.storage_key = ESYS_TR_NONE, .session = ESYS_TR_NONE, .failure = failure};
    if (!keychaind_tpm_is_installed(failure)) return 0;
    return keychaind_tpm_check(tpm, p_Tss2_TctiLdr_Initialize(tcti, &tpm->transport), "be reached")
        && keychaind_tpm_check(tpm, p_Esys_Initialize(&tpm->context, tpm->transport, NULL), "be used")
        && make_storage_key(tpm) && start_session(tpm);
}

int keychaind_tpm_perform(
    const char *tcti,
    keychaind_tpm_operation *operation,
    void *arguments,
    struct keychaind_tpm_failure *failure
) {
    // Without a resource manager a TPM has room for three objects, and a device one user at a time.
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    // A transient failure at the start would leave the keychain locked for the whole session.
    enum { attempt_limit = 3 };
    int is_done = 0;
    pthread_mutex_lock(&lock);
    for (int attempt = 0; attempt < attempt_limit; attempt++) {
        struct tpm tpm;
        is_done = open_tpm(&tpm, tcti, failure) && operation(&tpm, arguments);
        close_tpm(&tpm);
        if (is_done || !tpm.may_pass) break;
    }
    pthread_mutex_unlock(&lock);
    return is_done;
}

// MARK: Objects

int keychaind_tpm_create(
    struct tpm *tpm,
    const TPM2B_SENSITIVE_CREATE *sensitive,
    const TPM2B_PUBLIC *template,
    struct object object,
    TPMT_PUBLIC *public_part
) {
    TPM2B_DATA outside = {0};
    TPML_PCR_SELECTION registers = {0};
    TPM2B_PUBLIC *made_public = NULL;
    TPM2B_PRIVATE *made_private = NULL;
    TSS2_RC code = p_Esys_Create(
        tpm->context, tpm->storage_key, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, sensitive, template, &outside,
        &registers, &made_private, &made_public, NULL, NULL, NULL
    );
    int is_done = keychaind_tpm_check(tpm, code, "make a key");
    if (is_done) {
        const size_t room = KEYCHAIND_TPM_OBJECT_SIZE;
        *object.size = 0;
        code = p_Tss2_MU_TPM2B_PUBLIC_Marshal(made_public, object.bytes, room, object.size);
        if (code == TSS2_RC_SUCCESS)
            code = p_Tss2_MU_TPM2B_PRIVATE_Marshal(made_private, object.bytes, room, object.size);
        is_done = keychaind_tpm_check(tpm, code, "marshal a key");
        if (public_part) *public_part = made_public->publicArea;
    }
    p_Esys_Free(made_public);
    p_Esys_Free(made_private);
    return is_done;
}

int keychaind_tpm_parse(
    struct tpm *tpm,
    const uint8_t *bytes,
    size_t size,
    TPM2B_PUBLIC *public_part,
    TPM2B_PRIVATE *private_part
) {
    size_t offset = 0;
    *public_part = (TPM2B_PUBLIC){0};
    *private_part = (TPM2B_PRIVATE){0};
    TSS2_RC code = p_Tss2_MU_TPM2B_PUBLIC_Unmarshal(bytes, size, &offset, public_part);
    // tpm2-tss reads the size of the public part, and does not compare it.
    if (code == TSS2_RC_SUCCESS && (size_t)(bytes[0] << 8 | bytes[1]) + 2 != offset) code = TSS2_MU_RC_BAD_SIZE;
    if (code == TSS2_RC_SUCCESS) code = p_Tss2_MU_TPM2B_PRIVATE_Unmarshal(bytes, size, &offset, private_part);
    if (code == TSS2_RC_SUCCESS && offset == size) return 1;
    return keychaind_tpm_fail(tpm->failure, KEYCHAIND_TPM_INVALID, "the data is not a key of a TPM");
}

int keychaind_tpm_load(
    struct tpm *tpm,
    const TPM2B_PUBLIC *public_part,
    const TPM2B_PRIVATE *private_part,
    ESYS_TR *handle
) {
    TSS2_RC code = p_Esys_Load(
        tpm->context, tpm->storage_key, tpm->session, ESYS_TR_NONE, ESYS_TR_NONE, private_part, public_part, handle
    );
    return keychaind_tpm_check_input(tpm, code, "load the key");
}
