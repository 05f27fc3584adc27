#ifndef KEYCHAIND_FIDO_H
#define KEYCHAIND_FIDO_H

#include "CKeychaindFIDO.h"

#include <fido.h>

// The functions of libfido2, loaded at run time: most people have no security key, and the library brings OpenSSL.
#define FIDO_FUNCTIONS(F) \
    F(fido_init) F(fido_dev_info_new) F(fido_dev_info_manifest) F(fido_dev_info_ptr) F(fido_dev_info_path) \
    F(fido_dev_info_free) F(fido_dev_new) F(fido_dev_set_io_functions) F(fido_dev_set_timeout) F(fido_dev_open) \
    F(fido_dev_is_fido2) F(fido_dev_cancel) F(fido_dev_close) F(fido_dev_free) F(fido_dev_has_pin) \
    F(fido_dev_get_retry_count) F(fido_dev_get_cbor_info) F(fido_cbor_info_new) F(fido_cbor_info_free) \
    F(fido_cbor_info_extensions_ptr) F(fido_cbor_info_extensions_len) F(fido_cred_new) F(fido_cred_free) \
    F(fido_cred_set_type) F(fido_cred_set_clientdata_hash) F(fido_cred_set_rp) F(fido_cred_set_user) \
    F(fido_cred_set_rk) F(fido_cred_set_uv) F(fido_cred_set_extensions) F(fido_cred_set_prot) F(fido_cred_exclude) \
    F(fido_dev_make_cred) F(fido_cred_id_ptr) F(fido_cred_id_len) F(fido_assert_new) F(fido_assert_free) \
    F(fido_assert_set_rp) F(fido_assert_set_clientdata_hash) F(fido_assert_allow_cred) F(fido_assert_set_up) \
    F(fido_assert_set_uv) F(fido_assert_set_extensions) F(fido_assert_set_hmac_salt) F(fido_dev_get_assert) \
    F(fido_assert_count) F(fido_assert_flags) F(fido_assert_hmac_secret_ptr) F(fido_assert_hmac_secret_len)

#define DECLARE_EXTERN(name) extern __typeof__(&name) p_##name;
FIDO_FUNCTIONS(DECLARE_EXTERN)

struct keychaind_fido_key {
    fido_dev_t *device;
    int milliseconds;
};

/// The functions of a key that is a socket.
extern const fido_dev_io_t keychaind_fido_socket;

#endif
