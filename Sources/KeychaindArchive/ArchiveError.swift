import KeychaindGcrypt

/// A failure to read or write an archive; its reason contains no secret.
///
/// Errors with the same code are equal.
package struct ArchiveError: Error, Equatable {
    package enum Code: String, Sendable {
        case notAnArchive
        /// The archive has a later version, or costs more to open than this version accepts.
        case unsupported
        case wrongPassword
        /// The end is missing.
        case truncated
        case damaged
        case inputOutput
        /// A text or secret is too long for an archive.
        case limitExceeded
        case cryptographyFailed
    }

    package let code: Code
    package let reason: String

    package init(_ code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    init(_ error: GcryptError) {
        self.init(.cryptographyFailed, reason: error.reason)
    }

    package static func == (left: ArchiveError, right: ArchiveError) -> Bool {
        left.code == right.code
    }
}

extension ArchiveError: CustomStringConvertible {
    package var description: String { "\(code): \(reason)" }
}

/// Runs an operation of the ciphers with the errors of archives.
func archiving<Result: ~Copyable>(
    _ body: () throws(GcryptError) -> Result
) throws(ArchiveError) -> Result {
    do throws(GcryptError) {
        return try body()
    } catch {
        throw ArchiveError(error)
    }
}
