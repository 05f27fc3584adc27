import CKeychaindTPM
package import KeychaindGcrypt
package import KeychaindKeys

/// The TPM as a token of private keys.
package struct TPMKeys: KeyToken {
    private let configured: ConfiguredTPM

    package init(_ configured: ConfiguredTPM) {
        self.configured = configured
    }

    package func makeKey() throws(KeyError) -> NewTokenKey {
        var point = [UInt8](repeating: 0, count: TPMKeys.pointSize)
        let wrapped = try TPMKeys.translatingFailure { () throws(TPM.Failure) in
            try configured.current.object { transport, bytes, size, failure in
                keychaind_tpm_make_key(transport, bytes, size, &point, failure)
            }
        }
        do throws(GcryptError) {
            return NewTokenKey(wrapped: try SecureBytes(copying: wrapped), publicKey: point)
        } catch {
            throw KeyError(error)
        }
    }

    package func sign(_ digest: [UInt8], with wrapped: borrowing SecureBytes) throws(KeyError) -> [UInt8] {
        guard digest.count == TPMKeys.coordinateSize else {
            throw KeyError(.invalidInput, "a digest of \(digest.count) bytes cannot be signed")
        }
        var signature = [UInt8](repeating: 0, count: 2 * TPMKeys.coordinateSize)
        try use(wrapped) { transport, key, size, failure in
            keychaind_tpm_sign(transport, key, size, digest, &signature, failure)
        }
        return signature
    }

    package func multiply(_ point: [UInt8], by wrapped: borrowing SecureBytes) throws(KeyError) -> SecureBytes {
        guard point.count == TPMKeys.pointSize, point[0] == 4 else {
            throw KeyError(.invalidInput, "the public key is not a point of P-256")
        }
        var shared: SecureBytes
        do throws(GcryptError) {
            shared = try SecureBytes(count: TPMKeys.coordinateSize, in: .locked)
        } catch {
            throw KeyError(error)
        }
        try shared.withUnsafeMutableBytes { (shared) throws(KeyError) in
            let shared = shared.assumingMemoryBound(to: UInt8.self)
            try use(wrapped) { transport, key, size, failure in
                keychaind_tpm_agree(transport, key, size, point, shared.baseAddress, failure)
            }
        }
        return shared
    }

    private func use(
        _ wrapped: borrowing SecureBytes,
        _ operation: (
            _ transport: String, _ key: UnsafePointer<UInt8>?, _ size: Int,
            _ failure: UnsafeMutablePointer<keychaind_tpm_failure>
        ) -> Int32
    ) throws(KeyError) {
        try wrapped.withUnsafeBytes { (wrapped) throws(KeyError) in
            let key = wrapped.assumingMemoryBound(to: UInt8.self)
            try TPMKeys.translatingFailure { () throws(TPM.Failure) in
                try configured.current.perform { transport, failure in
                    operation(transport, key.baseAddress, key.count, failure)
                }
            }
        }
    }

    private static let coordinateSize = Int(KEYCHAIND_TPM_P256_SIZE)
    private static let pointSize = 1 + 2 * coordinateSize

    private static func translatingFailure<Result>(
        _ operation: () throws(TPM.Failure) -> Result
    ) throws(KeyError) -> Result {
        do throws(TPM.Failure) {
            return try operation()
        } catch {
            let code: KeyError.Code =
                switch error.kind {
                case .unavailable: .tokenUnavailable
                case .foreign: .foreignKey
                case .invalid: .malformedKey
                }
            throw KeyError(code, error.reason)
        }
    }
}
