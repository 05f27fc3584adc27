import Glibc
import KeychaindGcrypt

/// A failure of a log, without plaintexts and keys; errors with the same code are equal.
package struct LogError: Error, Equatable, CustomStringConvertible {
    package enum Code: Sendable {
        /// The file is damaged, or no log; or it has a later format; or it is another log than expected.
        case unreadable, unsupportedFormat, foreign

        /// The file is open to write elsewhere, or the name of a new one is taken.
        case inUse

        /// Another program has replaced, removed or changed the file while it was open.
        case displaced

        case limitExceeded, storageFull, readOnly, storageFailed, cryptographyFailed, noSuchRecord, invalidChange

        /// A frame is damaged, erased, or was changed without the key.
        case damaged

        /// Compaction has dropped the wanted state.
        case noHistory
    }

    package let code: Code
    package let reason: String

    package var description: String { "\(code): \(reason)" }

    init(_ code: Code, _ reason: String) {
        (self.code, self.reason) = (code, reason)
    }

    init(errno number: CInt, _ action: String) {
        let code: Code =
            switch number {
            case ENOSPC, EDQUOT, EFBIG: .storageFull
            case EACCES, EPERM, EROFS: .readOnly
            case EWOULDBLOCK, EEXIST: .inUse
            default: .storageFailed
            }
        self.init(code, "could not \(action): \(String(cString: strerror(number)))")
    }

    init(_ error: GcryptError) {
        self.init(error.code == .authenticationFailed ? .damaged : .cryptographyFailed, error.reason)
    }

    package static func == (first: LogError, second: LogError) -> Bool { first.code == second.code }
}
