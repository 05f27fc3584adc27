import CTPM
import Gcrypt
import Glibc
import Vault

/// This machine's TPM, which keeps a key so that no other machine gives it back.
struct TPMHost: HostSealer {
    /// How the TPM is reached, as tpm2-tss spells it.
    private let transport: String

    /// - Parameter transport: `device:` and a file of the kernel's, or `swtpm:` for one in software.
    init(transport: String) {
        self.transport = transport
    }

    func check() throws(VaultError) {
        if transport.hasPrefix(Self.device) {
            let path = String(transport.dropFirst(Self.device.count))
            guard access(path, R_OK | W_OK) == 0 else {
                let reason =
                    errno == ENOENT || errno == ENOTDIR
                    ? "there is no TPM" : "the TPM cannot be used: \(path): \(String(cString: strerror(errno)))"
                throw VaultError(.hostNotAvailable, reason: reason)
            }
        }
        var failure = keychaind_tpm_failure()
        guard keychaind_tpm_is_installed(&failure) != 0 else { throw Self.error(failure) }
    }

    func seal(_ key: borrowing SecureBytes) throws(VaultError) -> [UInt8] {
        try check()
        var failure = keychaind_tpm_failure()
        var sealed = [UInt8](repeating: 0, count: Int(KEYCHAIND_TPM_SEALED_SIZE))
        let count = key.withUnsafeBytes { key in
            let bytes = key.assumingMemoryBound(to: UInt8.self)
            return keychaind_tpm_seal(transport, bytes.baseAddress, bytes.count, &sealed, &failure)
        }
        guard count > 0, Int(count) <= sealed.count else { throw Self.error(failure) }
        return Array(sealed.prefix(Int(count)))
    }

    func unseal(_ sealed: [UInt8]) throws(VaultError) -> SecureBytes {
        try check()
        var failure = keychaind_tpm_failure()
        do throws(GcryptError) {
            var key = try SecureBytes(count: Self.keySize, in: .locked)
            let count = key.withUnsafeMutableBytes { key in
                let bytes = key.assumingMemoryBound(to: UInt8.self)
                return keychaind_tpm_unseal(
                    transport,
                    sealed,
                    sealed.count,
                    bytes.baseAddress,
                    bytes.count,
                    &failure
                )
            }
            if Int(count) == Self.keySize { return key }
        } catch {
            throw VaultError(error)
        }
        throw Self.error(failure)
    }

    private static let device = "device:"
    private static let keySize = 32

    private static func error(_ failure: keychaind_tpm_failure) -> VaultError {
        let reason = withUnsafeBytes(of: failure.reason) { bytes in
            String(decoding: bytes.prefix { byte in byte != 0 }, as: UTF8.self)
        }
        return VaultError(.hostNotAvailable, reason: reason.isEmpty ? "the TPM gives no key" : reason)
    }
}
