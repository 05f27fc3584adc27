import CKeychaindTPM
import Glibc
import KeychaindConfiguration
import KeychaindGcrypt
import KeychaindRights
import KeychaindVault
import Logging
import Synchronization

/// A host sealer backed by the TPM: only this machine can unseal the key.
struct TPMHost: HostSealer {
    /// The transport (TCTI), in the syntax of tpm2-tss.
    private let transport: String

    /// - Parameter transport: `device:` and a device file, or `swtpm:` for a software TPM.
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
            return UserRights.perform {
                keychaind_tpm_seal(transport, bytes.baseAddress, bytes.count, &sealed, &failure)
            }
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
                return UserRights.perform {
                    keychaind_tpm_unseal(
                        transport,
                        sealed,
                        sealed.count,
                        bytes.baseAddress,
                        bytes.count,
                        &failure
                    )
                }
            }
            if Int(count) == Self.keySize { return key }
        } catch {
            throw VaultError(error)
        }
        throw Self.error(failure)
    }

    /// Whether a transport names a kernel device, which no program of the user can impersonate.
    static func isSystems(_ transport: String) -> Bool {
        let prefix = device + "/dev/tpm"
        return transport.hasPrefix(prefix)
            && transport.dropFirst(prefix.count).utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "rm".utf8.contains(byte)
            }
    }

    private static let device = "device:"
    private static let keySize = 32

    private static func error(_ failure: keychaind_tpm_failure) -> VaultError {
        let reason = withUnsafeBytes(of: failure.reason) { bytes in
            String(decoding: bytes.prefix { byte in byte != 0 }, as: UTF8.self)
        }
        return VaultError(.hostNotAvailable, reason: reason.isEmpty ? "the TPM returned no key" : reason)
    }
}

/// The configured host sealer; the configuration is read after the daemon begins to serve.
final class ConfiguredHost: HostSealer {
    private let host = Mutex(TPMHost(transport: Configuration().host.tpm))

    /// Applies the configuration; in a domain only a system TPM, since the user's programs can edit the file.
    func configure(_ configuration: Configuration, in domain: Domain, logger: Logger) {
        let transport = configuration.host.tpm
        guard !domain.isEntered || TPMHost.isSystems(transport) else {
            return logger.error(
                "In its domain keychaind uses no other TPM than the system's; the configured one is ignored",
                metadata: ["tpm": "\(transport)"]
            )
        }
        host.withLock { host in host = TPMHost(transport: transport) }
    }

    private var current: TPMHost { host.withLock { host in host } }

    func check() throws(VaultError) { try current.check() }

    func seal(_ key: borrowing SecureBytes) throws(VaultError) -> [UInt8] { try current.seal(key) }

    func unseal(_ sealed: [UInt8]) throws(VaultError) -> SecureBytes { try current.unseal(sealed) }
}
