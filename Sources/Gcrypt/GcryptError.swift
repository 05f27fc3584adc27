/// Why a cryptographic operation failed.
///
/// Two errors are equal when their codes are; the reason is for logs and never holds a key, a plaintext or a password.
package struct GcryptError: Error, Equatable {
    /// What kind of failure it was.
    package let code: Code

    /// The failure in words, for a log line.
    package let reason: String

    /// Creates an error of a kind, with a reason in words.
    package init(_ code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Compares the codes only.
    package static func == (left: GcryptError, right: GcryptError) -> Bool {
        left.code == right.code
    }
}

extension GcryptError: CustomStringConvertible {
    /// The code and the reason.
    package var description: String { "\(code): \(reason)" }
}

extension GcryptError {
    /// A kind of failure, open to new ones.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case initializationFailed
            case outOfMemory
            case outOfLockedMemory
            case randomnessUnavailable
            case invalidParameters
            case invalidPublicKey
            case invalidCiphertext
            case authenticationFailed
            case operationFailed
        }

        private let kind: Kind

        /// libgcrypt is missing, too old, or refused to start.
        package static let initializationFailed = Code(kind: .initializationFailed)

        /// The process has no memory left.
        package static let outOfMemory = Code(kind: .outOfMemory)

        /// The pool of locked memory, which never grows, is used up.
        package static let outOfLockedMemory = Code(kind: .outOfLockedMemory)

        /// The kernel gave no random bytes.
        package static let randomnessUnavailable = Code(kind: .randomnessUnavailable)

        /// A key, salt, nonce, count or cost is out of the bounds that its operation documents.
        package static let invalidParameters = Code(kind: .invalidParameters)

        /// A peer's Diffie-Hellman key is degenerate (spec #34).
        package static let invalidPublicKey = Code(kind: .invalidPublicKey)

        /// A session ciphertext has a bad initialization vector, length or padding, and which of them is not told (spec #33).
        package static let invalidCiphertext = Code(kind: .invalidCiphertext)

        /// Sealed bytes are not what was sealed under this key and associated data.
        package static let authenticationFailed = Code(kind: .authenticationFailed)

        /// libgcrypt refused an operation that should not fail.
        package static let operationFailed = Code(kind: .operationFailed)

        /// The name of the code.
        package var description: String { kind.rawValue }
    }
}
