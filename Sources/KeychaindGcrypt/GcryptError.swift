import CKeychaindGcrypt

/// A failure of a cryptographic operation; its reason never contains a key, a plaintext or a password.
///
/// Errors with the same code are equal.
package struct GcryptError: Error, Equatable {
    package let code: Code

    package let reason: String

    package init(_ code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    package static func == (left: GcryptError, right: GcryptError) -> Bool {
        left.code == right.code
    }
}

extension GcryptError: CustomStringConvertible {
    package var description: String { "\(code): \(reason)" }
}

extension GcryptError {
    package enum Code: String, Sendable {
        /// libgcrypt is too old or failed to initialize.
        case initializationFailed

        case outOfMemory

        /// The pool of locked memory, which never grows, is exhausted.
        case outOfLockedMemory

        /// The kernel gave no random bytes.
        case randomnessUnavailable

        /// A key, salt, nonce, count or cost is outside of the documented bounds.
        case invalidParameters

        /// The public key of a peer is degenerate (spec #34).
        case invalidPublicKey

        /// A session ciphertext has a wrong initialization vector, length or padding; which one is not revealed (spec
        /// #33).
        case invalidCiphertext

        /// Sealed bytes were changed, or were sealed under another key or other associated data.
        case authenticationFailed

        case operationFailed
    }
}

extension GcryptError {
    /// - Parameter locked: whether the operation allocates from the locked pool.
    init(_ result: gcry_error_t, _ operation: StaticString, locked: Bool = false) {
        let isOutOfMemory = gcry_err_code(result) == GPG_ERR_ENOMEM
        let code: Code =
            switch (isOutOfMemory, locked) {
            case (true, true): .outOfLockedMemory
            case (true, false): .outOfMemory
            case (false, _): .operationFailed
            }
        self.init(code, reason: "\(operation): \(String(cString: gcry_strerror(result)))")
    }
}

func check(_ result: gcry_error_t, _ operation: StaticString, locked: Bool = false) throws(GcryptError) {
    if result != 0 { throw GcryptError(result, operation, locked: locked) }
}
