import KeychaindConfiguration
import Logging
import Synchronization

/// The configured TPM; the configuration is read after the daemon begins to serve.
final class ConfiguredTPM: Sendable {
    private let tpm = Mutex(TPM(transport: Configuration().host.tpm))

    var current: TPM { tpm.withLock { tpm in tpm } }

    /// Applies the configuration; in a domain only a system TPM, since the user's programs can edit the file.
    func configure(_ configuration: Configuration, in domain: Domain, logger: Logger) {
        let transport = configuration.host.tpm
        guard !domain.isEntered || TPM.isSystems(transport) else {
            return logger.error(
                "In its domain keychaind uses no other TPM than the system's; the configured one is ignored",
                metadata: ["tpm": "\(transport)"]
            )
        }
        tpm.withLock { tpm in tpm = TPM(transport: transport) }
    }
}
