import KeychaindConfiguration
import KeychaindDBus
import KeychaindFIDO
import KeychaindTPM
import Logging

extension ConfiguredTPM {
    /// Applies the configuration; in a domain only a system TPM, since the user's programs can edit the file.
    func configure(_ configuration: Configuration, in domain: Domain, logger: Logger) {
        let transport = configuration.host.tpm
        guard isUsable(configuration, in: domain) else {
            return logger.error(
                "In its domain keychaind uses no other TPM than the system's; the configured one is ignored",
                metadata: ["tpm": "\(transport)"]
            )
        }
        use(TPM(transport: transport))
    }

    func isUsable(_ configuration: Configuration, in domain: Domain) -> Bool {
        !domain.isEntered || TPM.isSystems(configuration.host.tpm)
    }
}

extension PluggedSecurityKeys {
    /// Applies the configuration; in a domain only the system's keys, since the user's programs can edit the file.
    @BusActor
    func configure(_ configuration: Configuration, in domain: Domain, logger: Logger) {
        guard !domain.isEntered || configuration.securityKeyFolder.isEmpty else {
            return logger.error(
                "In its domain keychaind uses no other security keys than the system's; the configured ones are ignored"
            )
        }
        folder = configuration.securityKeyFolder
    }
}
