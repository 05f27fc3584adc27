#include "FIDO.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define DEFINE(name) __typeof__(&name) p_##name;
FIDO_FUNCTIONS(DEFINE)

// The relying party of all credentials. A file cannot choose another one, so that it cannot have the daemon use
// credentials of other programs.
static const char relying_party[] = "org.keychaind";

/// The time for an operation without a touch.
enum { quiet_milliseconds = 5000 };

static pthread_once_t loading = PTHREAD_ONCE_INIT;
static int is_installed;

static void load_library(void) {
    void *library = dlopen("libfido2.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
#define RESOLVE(name) \
    if (!(*(void **)&p_##name = dlsym(library, #name))) return;
    FIDO_FUNCTIONS(RESOLVE)
    // A U2F key would answer, and has no such secrets.
    p_fido_init(FIDO_DISABLE_U2F_FALLBACK);
    is_installed = 1;
}

int keychaind_fido_is_installed(void) {
    pthread_once(&loading, load_library);
    return is_installed;
}

size_t keychaind_fido_list(char *paths) {
    fido_dev_info_t *list = p_fido_dev_info_new(KEYCHAIND_FIDO_KEYS);
    size_t found = 0, count = 0;
    if (!list) return 0;
    if (p_fido_dev_info_manifest(list, KEYCHAIND_FIDO_KEYS, &found) != FIDO_OK) found = 0;
    for (size_t i = 0; i < found; i++) {
        const fido_dev_info_t *info = p_fido_dev_info_ptr(list, i);
        const char *path = info ? p_fido_dev_info_path(info) : NULL;
        if (path && strlen(path) < KEYCHAIND_FIDO_PATH_SIZE) strcpy(paths + KEYCHAIND_FIDO_PATH_SIZE * count++, path);
    }
    p_fido_dev_info_free(&list, KEYCHAIND_FIDO_KEYS);
    return count;
}

// MARK: Statuses

static enum keychaind_fido_status status_of(int code) {
    switch (code) {
    case FIDO_OK: return KEYCHAIND_FIDO_DONE;
    case FIDO_ERR_NO_CREDENTIALS:
    case FIDO_ERR_INVALID_CREDENTIAL: return KEYCHAIND_FIDO_UNKNOWN;
    case FIDO_ERR_CREDENTIAL_EXCLUDED: return KEYCHAIND_FIDO_EXCLUDED;
    case FIDO_ERR_UNSUPPORTED_EXTENSION:
    case FIDO_ERR_UNSUPPORTED_ALGORITHM:
    case FIDO_ERR_UNSUPPORTED_OPTION: return KEYCHAIND_FIDO_UNABLE;
    case FIDO_ERR_PIN_REQUIRED: return KEYCHAIND_FIDO_PIN_NEEDED;
    case FIDO_ERR_PIN_NOT_SET: return KEYCHAIND_FIDO_PIN_NOT_SET;
    case FIDO_ERR_PIN_INVALID: return KEYCHAIND_FIDO_PIN_WRONG;
    case FIDO_ERR_PIN_AUTH_BLOCKED: return KEYCHAIND_FIDO_PIN_PAUSED;
    case FIDO_ERR_PIN_BLOCKED: return KEYCHAIND_FIDO_PIN_BLOCKED;
    case FIDO_ERR_TIMEOUT:
    case FIDO_ERR_ACTION_TIMEOUT:
    case FIDO_ERR_USER_ACTION_TIMEOUT:
    case FIDO_ERR_OPERATION_DENIED: return KEYCHAIND_FIDO_TIMED_OUT;
    case FIDO_ERR_KEEPALIVE_CANCEL: return KEYCHAIND_FIDO_CANCELLED;
    case FIDO_ERR_TX:
    case FIDO_ERR_RX:
    case FIDO_ERR_RX_NOT_CBOR:
    case FIDO_ERR_RX_INVALID_CBOR:
    case FIDO_ERR_INVALID_CBOR: return KEYCHAIND_FIDO_GONE;
    default: return KEYCHAIND_FIDO_FAILED;
    }
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/// The status of a call that began at a time: libfido2 reports its own timeout as a failure to read.
static enum keychaind_fido_status status_since(int64_t start, int code, const struct keychaind_fido_key *key) {
    enum keychaind_fido_status status = status_of(code);
    return status == KEYCHAIND_FIDO_GONE && now() - start >= key->milliseconds ? KEYCHAIND_FIDO_TIMED_OUT : status;
}

// MARK: A key

struct keychaind_fido_key *keychaind_fido_open(
    const char *path,
    int is_socket,
    int milliseconds,
    enum keychaind_fido_status *status
) {
    *status = KEYCHAIND_FIDO_NOT_OPENED;
    if (!is_socket) {
        // libfido2 does not tell why it could not open a device.
        int descriptor = open(path, O_RDWR | O_CLOEXEC);
        if (descriptor < 0) {
            if (errno != EACCES && errno != EPERM) *status = KEYCHAIND_FIDO_GONE;
            return NULL;
        }
        close(descriptor);
    }
    struct keychaind_fido_key *key = calloc(1, sizeof *key);
    if (!key) return NULL;
    key->milliseconds = milliseconds;
    key->device = p_fido_dev_new();
    int code = key->device ? FIDO_OK : FIDO_ERR_INTERNAL;
    if (code == FIDO_OK && is_socket) code = p_fido_dev_set_io_functions(key->device, &keychaind_fido_socket);
    if (code == FIDO_OK) code = p_fido_dev_set_timeout(key->device, quiet_milliseconds);
    if (code == FIDO_OK) code = p_fido_dev_open(key->device, path);
    if (code == FIDO_OK) {
        *status = KEYCHAIND_FIDO_DONE;
        return key;
    }
    *status = KEYCHAIND_FIDO_GONE;
    if (key->device) p_fido_dev_free(&key->device);
    free(key);
    return NULL;
}

void keychaind_fido_close(struct keychaind_fido_key *key) {
    p_fido_dev_close(key->device);
    p_fido_dev_free(&key->device);
    free(key);
}

void keychaind_fido_cancel(struct keychaind_fido_key *key) { p_fido_dev_cancel(key->device); }

enum keychaind_fido_status keychaind_fido_look(
    struct keychaind_fido_key *key,
    struct keychaind_fido_abilities *abilities
) {
    *abilities = (struct keychaind_fido_abilities){0};
    if (!p_fido_dev_is_fido2(key->device)) return KEYCHAIND_FIDO_UNABLE;
    fido_cbor_info_t *info = p_fido_cbor_info_new();
    if (!info) return KEYCHAIND_FIDO_FAILED;
    int code = p_fido_dev_get_cbor_info(key->device, info);
    if (code == FIDO_OK) {
        char **names = p_fido_cbor_info_extensions_ptr(info);
        for (size_t i = 0; i < p_fido_cbor_info_extensions_len(info); i++) {
            if (strcmp(names[i], "hmac-secret") == 0) abilities->has_hmac_secret = 1;
            if (strcmp(names[i], "credProtect") == 0) abilities->has_protection = 1;
        }
        abilities->has_pin = p_fido_dev_has_pin(key->device);
    }
    p_fido_cbor_info_free(&info);
    if (code != FIDO_OK) return status_of(code);
    return abilities->has_hmac_secret ? KEYCHAIND_FIDO_DONE : KEYCHAIND_FIDO_UNABLE;
}

int keychaind_fido_pin_tries(struct keychaind_fido_key *key) {
    int tries = -1;
    return p_fido_dev_get_retry_count(key->device, &tries) == FIDO_OK ? tries : -1;
}

// MARK: Credentials

/// A hash that nobody checks: signatures are not used.
static int make_challenge(unsigned char challenge[32]) { return getrandom(challenge, 32, 0) == 32; }

static fido_assert_t *make_assertion(const uint8_t *id, size_t size) {
    unsigned char challenge[32];
    fido_assert_t *assertion = p_fido_assert_new();
    if (!assertion) return NULL;
    if (make_challenge(challenge) && p_fido_assert_set_rp(assertion, relying_party) == FIDO_OK
        && p_fido_assert_set_clientdata_hash(assertion, challenge, sizeof challenge) == FIDO_OK
        && p_fido_assert_allow_cred(assertion, id, size) == FIDO_OK)
        return assertion;
    p_fido_assert_free(&assertion);
    return NULL;
}

enum keychaind_fido_status keychaind_fido_knows(
    struct keychaind_fido_key *key,
    const uint8_t *id,
    size_t size,
    const char *pin
) {
    fido_assert_t *assertion = make_assertion(id, size);
    if (!assertion) return KEYCHAIND_FIDO_FAILED;
    int code = p_fido_assert_set_up(assertion, FIDO_OPT_FALSE);
    if (code == FIDO_OK) code = p_fido_dev_get_assert(key->device, assertion, pin);
    p_fido_assert_free(&assertion);
    return status_of(code);
}

enum keychaind_fido_status keychaind_fido_make(
    struct keychaind_fido_key *key,
    const struct keychaind_fido_credential *excluded,
    size_t excluded_count,
    const char *pin,
    int is_protected,
    uint8_t id[KEYCHAIND_FIDO_CREDENTIAL_SIZE],
    size_t *size
) {
    unsigned char challenge[32], user[32];
    fido_cred_t *credential = p_fido_cred_new();
    if (!credential) return KEYCHAIND_FIDO_FAILED;
    int extensions = FIDO_EXT_HMAC_SECRET | (is_protected ? FIDO_EXT_CRED_PROTECT : 0);
    int64_t start = now();
    int code = make_challenge(challenge) && make_challenge(user) ? FIDO_OK : FIDO_ERR_INTERNAL;
    if (code == FIDO_OK) code = p_fido_cred_set_type(credential, COSE_ES256);
    if (code == FIDO_OK) code = p_fido_cred_set_clientdata_hash(credential, challenge, sizeof challenge);
    if (code == FIDO_OK) code = p_fido_cred_set_rp(credential, relying_party, "keychaind");
    if (code == FIDO_OK) code = p_fido_cred_set_user(credential, user, sizeof user, "keychaind", "keychaind", NULL);
    if (code == FIDO_OK) code = p_fido_cred_set_rk(credential, FIDO_OPT_OMIT);
    if (code == FIDO_OK) code = p_fido_cred_set_uv(credential, FIDO_OPT_OMIT);
    if (code == FIDO_OK) code = p_fido_cred_set_extensions(credential, extensions);
    if (code == FIDO_OK && is_protected) code = p_fido_cred_set_prot(credential, FIDO_CRED_PROT_UV_REQUIRED);
    for (size_t i = 0; code == FIDO_OK && i < excluded_count; i++)
        code = p_fido_cred_exclude(credential, excluded[i].id, excluded[i].size);
    if (code == FIDO_OK) code = p_fido_dev_set_timeout(key->device, key->milliseconds);
    if (code == FIDO_OK) code = p_fido_dev_make_cred(key->device, credential, pin);
    if (code == FIDO_OK) {
        *size = p_fido_cred_id_len(credential);
        if (*size > 0 && *size <= KEYCHAIND_FIDO_CREDENTIAL_SIZE)
            memcpy(id, p_fido_cred_id_ptr(credential), *size);
        else
            code = FIDO_ERR_INTERNAL;
    }
    p_fido_cred_free(&credential);
    return status_since(start, code, key);
}

enum keychaind_fido_status keychaind_fido_secret(
    struct keychaind_fido_key *key,
    const uint8_t *id,
    size_t size,
    const uint8_t salt[KEYCHAIND_FIDO_SALT_SIZE],
    const char *pin,
    uint8_t secret[KEYCHAIND_FIDO_SECRET_SIZE]
) {
    const uint8_t user_present = 1, user_verified = 4;
    const uint8_t needed = user_present | (pin ? user_verified : 0);
    fido_assert_t *assertion = make_assertion(id, size);
    if (!assertion) return KEYCHAIND_FIDO_FAILED;
    int64_t start = now();
    int code = p_fido_dev_set_timeout(key->device, key->milliseconds);
    if (code == FIDO_OK) code = p_fido_assert_set_up(assertion, FIDO_OPT_TRUE);
    if (code == FIDO_OK) code = p_fido_assert_set_uv(assertion, FIDO_OPT_OMIT);
    if (code == FIDO_OK) code = p_fido_assert_set_extensions(assertion, FIDO_EXT_HMAC_SECRET);
    if (code == FIDO_OK) code = p_fido_assert_set_hmac_salt(assertion, salt, KEYCHAIND_FIDO_SALT_SIZE);
    if (code == FIDO_OK) code = p_fido_dev_get_assert(key->device, assertion, pin);
    enum keychaind_fido_status status = status_since(start, code, key);
    if (code == FIDO_OK) {
        if (p_fido_assert_count(assertion) == 1 && (p_fido_assert_flags(assertion, 0) & needed) == needed
            && p_fido_assert_hmac_secret_len(assertion, 0) == KEYCHAIND_FIDO_SECRET_SIZE)
            memcpy(secret, p_fido_assert_hmac_secret_ptr(assertion, 0), KEYCHAIND_FIDO_SECRET_SIZE);
        else
            status = KEYCHAIND_FIDO_UNABLE;
    }
    p_fido_assert_free(&assertion);
    return status;
}
