import CKeychaindGcrypt

/// A libgcrypt cipher with its key; closed and wiped on deinit.
///
/// `@unchecked Sendable`: the value owns the handle, and every use needs exclusive access.
struct CipherHandle: ~Copyable, @unchecked Sendable {
    enum Algorithm {
        case aes128CBC
        case aes128GCM
        case aes256GCM
        case blocks(BlockCipher)
        case unpadded(UnpaddedCipher)
    }

    static let blockSize = 16

    private let handle: gcry_cipher_hd_t

    /// - Parameter memory: the memory of the key schedule, which is as secret as the key.
    init(_ algorithm: Algorithm, key: borrowing SecureBytes, in memory: SecureBytes.Memory) throws(GcryptError) {
        try Gcrypt.initializeIfNeeded()
        let (cipher, mode) =
            switch algorithm {
            case .aes128CBC: (GCRY_CIPHER_AES, GCRY_CIPHER_MODE_CBC)
            case .aes128GCM: (GCRY_CIPHER_AES, GCRY_CIPHER_MODE_GCM)
            case .aes256GCM: (GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_GCM)
            case .blocks(let cipher): (cipher.algorithm, GCRY_CIPHER_MODE_CBC)
            case .unpadded(let cipher): (cipher.algorithm, cipher.mode)
            }
        let flags = memory == .locked ? GCRY_CIPHER_SECURE.rawValue : 0
        var opened: gcry_cipher_hd_t?
        try check(
            gcry_cipher_open(&opened, Int32(cipher.rawValue), Int32(mode.rawValue), flags),
            "open a cipher",
            locked: memory == .locked
        )
        guard let opened else {
            throw GcryptError(.operationFailed, reason: "open a cipher: no handle")
        }
        let result = key.withUnsafeBytes { gcry_cipher_setkey(opened, $0.baseAddress, $0.count) }
        guard result == 0 else {
            gcry_cipher_close(opened)
            throw GcryptError(result, "set a cipher key")
        }
        handle = opened
    }

    deinit {
        gcry_cipher_close(handle)
    }

    mutating func start(nonce: UnsafeRawBufferPointer) throws(GcryptError) {
        try check(gcry_cipher_setiv(handle, nonce.baseAddress, nonce.count), "set a nonce")
    }

    mutating func authenticate(_ data: UnsafeRawBufferPointer) throws(GcryptError) {
        guard !data.isEmpty else { return }
        try check(gcry_cipher_authenticate(handle, data.baseAddress, data.count), "authenticate")
    }

    mutating func encrypt(
        _ plaintext: UnsafeRawBufferPointer,
        to output: UnsafeMutableRawBufferPointer
    ) throws(GcryptError) {
        // Without an input libgcrypt takes the output for it.
        guard !plaintext.isEmpty else { return }
        try check(
            gcry_cipher_encrypt(handle, output.baseAddress, output.count, plaintext.baseAddress, plaintext.count),
            "encrypt"
        )
    }

    mutating func decrypt(
        _ ciphertext: UnsafeRawBufferPointer,
        to output: UnsafeMutableRawBufferPointer
    ) throws(GcryptError) {
        guard !ciphertext.isEmpty else { return }
        try check(
            gcry_cipher_decrypt(handle, output.baseAddress, output.count, ciphertext.baseAddress, ciphertext.count),
            "decrypt"
        )
    }

    mutating func tag(to output: UnsafeMutableRawBufferPointer) throws(GcryptError) {
        try check(gcry_cipher_gettag(handle, output.baseAddress, output.count), "compute a tag")
    }

    /// Compares the tag in constant time.
    mutating func hasTag(_ tag: UnsafeRawBufferPointer) throws(GcryptError) -> Bool {
        let result = gcry_cipher_checktag(handle, tag.baseAddress, tag.count)
        if gcry_err_code(result) == GPG_ERR_CHECKSUM { return false }
        try check(result, "check a tag")
        return true
    }
}
