import Synchronization

/// The TPM in use, which the configuration can replace.
package final class ConfiguredTPM: Sendable {
    private let tpm: Mutex<TPM>

    package init(_ tpm: TPM) {
        self.tpm = Mutex(tpm)
    }

    package func use(_ tpm: TPM) {
        self.tpm.withLock { current in current = tpm }
    }

    var current: TPM { tpm.withLock { tpm in tpm } }
}
