package import KeychaindGcrypt

/// A failure of a key or of an operation with it; its reason never contains a key or a plaintext.
///
/// Errors with the same code are equal.
package struct KeyError: Error, Equatable {
    package let code: Code

    package let reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    package static func == (left: KeyError, right: KeyError) -> Bool {
        left.code == right.code
    }
}

extension KeyError {
    package enum Code: String, Sendable {
        /// The bytes are not a key of the type and class.
        case malformedKey

        /// Keys of the type and size are not supported.
        case unsupportedKey

        /// The algorithm does not fit the operation or the key.
        case unsuitableAlgorithm

        /// The data, public key or parameters are invalid for the algorithm.
        case invalidInput

        /// The ciphertext is not one for this key; why is not revealed.
        case decryptionFailed

        /// The device of the key is not there, or could not do it.
        case tokenUnavailable

        /// The key is of another device.
        case foreignKey

        case outOfMemory

        case operationFailed
    }
}

extension KeyError {
    package init(_ error: GcryptError) {
        let code: Code =
            switch error.code {
            case .outOfMemory, .outOfLockedMemory: .outOfMemory
            case .invalidCiphertext, .authenticationFailed: .decryptionFailed
            case .invalidParameters, .invalidPublicKey: .invalidInput
            case .initializationFailed, .randomnessUnavailable, .operationFailed: .operationFailed
            }
        self.init(code, error.reason)
    }

    /// The one error of every ciphertext that is not for a key.
    static var decryptionFailed: KeyError { KeyError(.decryptionFailed, "the ciphertext is not one for the key") }

    /// Runs a cryptographic operation and translates its error.
    static func translating<Result: ~Copyable>(
        _ operation: () throws(GcryptError) -> Result
    ) throws(KeyError) -> Result {
        do throws(GcryptError) {
            return try operation()
        } catch {
            throw KeyError(error)
        }
    }
}

extension KeyError: CustomStringConvertible {
    package var description: String { "\(code): \(reason)" }
}
