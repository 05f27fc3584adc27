import CGcrypt

/// A libgcrypt HMAC-SHA256 with its key set, closed and wiped with this value.
///
/// `@unchecked Sendable`: this value is the one owner of the handle, and using it needs it exclusively.
struct DigestHandle: ~Copyable, @unchecked Sendable {
    private let handle: gcry_md_hd_t

    /// Opens the digest in locked memory and absorbs the key.
    init(key: UnsafeRawBufferPointer) throws(GcryptError) {
        try Gcrypt.initializeIfNeeded()
        var opened: gcry_md_hd_t?
        try check(
            gcry_md_open(
                &opened,
                Int32(GCRY_MD_SHA256.rawValue),
                GCRY_MD_FLAG_HMAC.rawValue | GCRY_MD_FLAG_SECURE.rawValue
            ),
            "open a digest",
            locked: true
        )
        guard let opened else {
            throw GcryptError(.operationFailed, reason: "open a digest: no handle")
        }
        let result = gcry_md_setkey(opened, key.baseAddress, key.count)
        guard result == 0 else {
            gcry_md_close(opened)
            throw GcryptError(result, "set a digest's key", locked: true)
        }
        handle = opened
    }

    deinit {
        gcry_md_close(handle)
    }

    /// Adds a part of the message.
    mutating func write(_ part: UnsafeRawBufferPointer) {
        guard let base = part.baseAddress else { return }
        gcry_md_write(handle, base, part.count)
    }

    /// Gives the 32 bytes of the message's code to a closure, and makes ready for the next message.
    mutating func finish<Result>(_ body: (UnsafeRawBufferPointer) -> Result) throws(GcryptError) -> Result {
        guard let code = gcry_md_read(handle, Int32(GCRY_MD_SHA256.rawValue)) else {
            throw GcryptError(.operationFailed, reason: "read a digest")
        }
        defer { gcry_md_reset(handle) }
        return body(UnsafeRawBufferPointer(start: code, count: HMACSHA256.size))
    }
}
