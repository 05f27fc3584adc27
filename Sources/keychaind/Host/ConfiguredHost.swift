import Configuration
import Gcrypt
import Logging
import Synchronization
import Vault

/// The machine as the configuration names it, which is read after the daemon has begun to serve.
final class ConfiguredHost: HostSealer {
    private let host = Mutex(TPMHost(transport: Configuration().host.tpm))

    /// Takes what the configuration says; in the domain, which the configuration is outside of, only a TPM of the system's.
    func configure(_ configuration: Configuration, in domain: Domain, logger: Logger) {
        let transport = configuration.host.tpm
        guard !domain.isEntered || TPMHost.isSystems(transport) else {
            return logger.error(
                "In a domain of its own keychaind uses no other TPM than the system's",
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
