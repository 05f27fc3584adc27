import Configuration
import Gcrypt
import Synchronization
import Vault

/// The machine as the configuration names it, which is read after the daemon has begun to serve.
final class ConfiguredHost: HostSealer {
    private let host = Mutex(TPMHost(transport: Configuration().host.tpm))

    /// Takes what the configuration says.
    func configure(_ configuration: Configuration) {
        host.withLock { host in host = TPMHost(transport: configuration.host.tpm) }
    }

    private var current: TPMHost { host.withLock { host in host } }

    func check() throws(VaultError) { try current.check() }

    func seal(_ key: borrowing SecureBytes) throws(VaultError) -> [UInt8] { try current.seal(key) }

    func unseal(_ sealed: [UInt8]) throws(VaultError) -> SecureBytes { try current.unseal(sealed) }
}
