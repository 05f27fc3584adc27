import CKeychaindTPM
package import KeychaindGcrypt
package import KeychaindVault

/// A host sealer backed by the TPM: only this machine can unseal the key.
package struct TPMHost: HostSealer {
    private let configured: ConfiguredTPM

    package init(_ configured: ConfiguredTPM) {
        self.configured = configured
    }

    package func check() throws(VaultError) {
        try TPMHost.translatingFailure { () throws(TPM.Failure) in try configured.current.check() }
    }

    package func seal(_ key: borrowing SecureBytes) throws(VaultError) -> [UInt8] {
        try key.withUnsafeBytes { (key) throws(VaultError) in
            let key = key.assumingMemoryBound(to: UInt8.self)
            return try TPMHost.translatingFailure { () throws(TPM.Failure) in
                try configured.current.object { transport, bytes, size, failure in
                    keychaind_tpm_seal(transport, key.baseAddress, key.count, bytes, size, failure)
                }
            }
        }
    }

    package func unseal(_ sealed: [UInt8]) throws(VaultError) -> SecureBytes {
        var key: SecureBytes
        do throws(GcryptError) {
            key = try SecureBytes(count: TPMHost.keySize, in: .locked)
        } catch {
            throw VaultError(error)
        }
        try key.withUnsafeMutableBytes { (key) throws(VaultError) in
            let key = key.assumingMemoryBound(to: UInt8.self)
            try TPMHost.translatingFailure { () throws(TPM.Failure) in
                try configured.current.perform { transport, failure in
                    keychaind_tpm_unseal(transport, sealed, sealed.count, key.baseAddress, key.count, failure)
                }
            }
        }
        return key
    }

    /// The size of the keys of the vault.
    private static let keySize = 32

    private static func translatingFailure<Result>(
        _ operation: () throws(TPM.Failure) -> Result
    ) throws(VaultError) -> Result {
        do throws(TPM.Failure) {
            return try operation()
        } catch {
            throw VaultError(.hostNotAvailable, reason: error.reason)
        }
    }
}
