#ifndef KEYCHAIND_CFIDO_H
#define KEYCHAIND_CFIDO_H

#include <stddef.h>
#include <stdint.h>

/// The maximum number of keys that are looked at.
#define KEYCHAIND_FIDO_KEYS 8

/// The maximum length of a device's path, with the final NUL.
#define KEYCHAIND_FIDO_PATH_SIZE 256

/// The maximum length of a credential's identifier, as in WebAuthn.
#define KEYCHAIND_FIDO_CREDENTIAL_SIZE 1023

#define KEYCHAIND_FIDO_SALT_SIZE 32
#define KEYCHAIND_FIDO_SECRET_SIZE 32

enum keychaind_fido_status {
    KEYCHAIND_FIDO_DONE,
    /// The key does not know the credential.
    KEYCHAIND_FIDO_UNKNOWN,
    /// The key has one of the excluded credentials.
    KEYCHAIND_FIDO_EXCLUDED,
    /// The key is no FIDO2 key, or lacks the extension hmac-secret.
    KEYCHAIND_FIDO_UNABLE,
    KEYCHAIND_FIDO_PIN_NEEDED,
    KEYCHAIND_FIDO_PIN_NOT_SET,
    KEYCHAIND_FIDO_PIN_WRONG,
    /// Too many wrong PINs in a row; the key has to be plugged in again.
    KEYCHAIND_FIDO_PIN_PAUSED,
    /// No tries of the PIN are left; only a reset helps.
    KEYCHAIND_FIDO_PIN_BLOCKED,
    /// Nobody touched the key.
    KEYCHAIND_FIDO_TIMED_OUT,
    KEYCHAIND_FIDO_CANCELLED,
    /// The key was taken out, or does not speak its protocol.
    KEYCHAIND_FIDO_GONE,
    /// The device file cannot be opened.
    KEYCHAIND_FIDO_NOT_OPENED,
    KEYCHAIND_FIDO_FAILED,
};

struct keychaind_fido_abilities {
    int has_hmac_secret;
    int has_protection;
    int has_pin;
};

struct keychaind_fido_key;

/// Whether libfido2 is installed; the first call loads it.
int keychaind_fido_is_installed(void);

/// Lists the keys that are plugged in: their paths, each in KEYCHAIND_FIDO_PATH_SIZE bytes. Returns their number.
size_t keychaind_fido_list(char *paths);

// The functions below block for some seconds, those with a touch for at most the milliseconds of the key.

/// Opens a key by its device file or, for tests, by a SOCK_SEQPACKET socket that carries CTAPHID reports.
struct keychaind_fido_key *keychaind_fido_open(
    const char *path,
    int is_socket,
    int milliseconds,
    enum keychaind_fido_status *status
);

void keychaind_fido_close(struct keychaind_fido_key *key);

/// Ends the operation of another thread on the key, which must stay open meanwhile.
void keychaind_fido_cancel(struct keychaind_fido_key *key);

enum keychaind_fido_status keychaind_fido_look(
    struct keychaind_fido_key *key,
    struct keychaind_fido_abilities *abilities
);

/// The tries of the PIN that are left; -1 if unknown.
int keychaind_fido_pin_tries(struct keychaind_fido_key *key);

/// Whether the key has a credential; asks for no touch.
///
/// @param pin NULL to find only a credential that is not protected by it.
enum keychaind_fido_status keychaind_fido_knows(
    struct keychaind_fido_key *key,
    const uint8_t *id,
    size_t size,
    const char *pin
);

/// A credential of a request.
struct keychaind_fido_credential {
    const uint8_t *id;
    size_t size;
};

/// Makes a credential, after a touch.
///
/// @param pin NULL if the key has none.
/// @param is_protected whether the key refuses to use the credential without its PIN.
enum keychaind_fido_status keychaind_fido_make(
    struct keychaind_fido_key *key,
    const struct keychaind_fido_credential *excluded,
    size_t excluded_count,
    const char *pin,
    int is_protected,
    uint8_t id[KEYCHAIND_FIDO_CREDENTIAL_SIZE],
    size_t *size
);

/// Gets the secret of a credential and a salt, after a touch.
///
/// @param pin NULL for the secret that needs no PIN.
enum keychaind_fido_status keychaind_fido_secret(
    struct keychaind_fido_key *key,
    const uint8_t *id,
    size_t size,
    const uint8_t salt[KEYCHAIND_FIDO_SALT_SIZE],
    const char *pin,
    uint8_t secret[KEYCHAIND_FIDO_SECRET_SIZE]
);

#endif
