package import Gcrypt

/// Why the vault could not do what was asked.
///
/// Two errors are equal when their codes are; the reason is for people and for logs, and never holds a secret, a password or a
/// key.
package struct VaultError: Error, Equatable {
    /// What kind of failure it was.
    package let code: Code

    /// The failure in words.
    package let reason: String

    /// Creates an error of a kind, with a reason in words.
    package init(_ code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Turns a failure of a cipher into a failure of the vault.
    ///
    /// An authentication failure means `unreadable`: what is stored is not what was written.
    package init(_ error: GcryptError) {
        self.init(error.code == .authenticationFailed ? .unreadable : .cryptographyFailed, reason: error.reason)
    }

    /// Compares the codes only.
    package static func == (first: VaultError, second: VaultError) -> Bool {
        first.code == second.code
    }
}

extension VaultError: CustomStringConvertible {
    /// The code and the reason.
    package var description: String { "\(code): \(reason)" }
}

extension VaultError {
    /// A kind of failure, open to new ones.
    package struct Code: CaseIterable, CustomStringConvertible, Hashable, Sendable {
        private enum Kind: String, CaseIterable {
            case wrongPassword
            case emptyPassword
            case locked
            case unreadable
            case noSuchItem
            case noSuchCollection
            case inUse
            case storageFull
            case readOnly
            case storageFailed
            case unsupportedFormat
            case limitExceeded
            case notSupported
            case busy
            case cryptographyFailed
            case invalidAccessControl
            case authenticationNeeded
            case passcodeNotSet
            case wrongApplicationPassword
            case applicationPasswordNeeded
            case mistypedRecoveryKey
            case lastKeySlot
            case noSuchKeySlot
            case hostNotAvailable
        }

        private let kind: Kind

        /// The password opens no key slot of the collection.
        package static let wrongPassword = Code(kind: .wrongPassword)

        /// A password without a byte protects nothing, and is refused.
        package static let emptyPassword = Code(kind: .emptyPassword)

        /// The collection is locked, or was locked before the change could be written.
        package static let locked = Code(kind: .locked)

        /// What is stored is damaged or foreign.
        ///
        /// It is left as it is.
        package static let unreadable = Code(kind: .unreadable)

        /// The collection has no item of that number.
        package static let noSuchItem = Code(kind: .noSuchItem)

        /// The vault has no such collection, or no longer.
        package static let noSuchCollection = Code(kind: .noSuchCollection)

        /// Another process, or another vault of this one, uses the folder.
        package static let inUse = Code(kind: .inUse)

        /// The disk is full.
        ///
        /// Nothing was changed.
        package static let storageFull = Code(kind: .storageFull)

        /// The folder or the file cannot be written.
        ///
        /// Nothing was changed.
        package static let readOnly = Code(kind: .readOnly)

        /// The disk failed.
        package static let storageFailed = Code(kind: .storageFailed)

        /// The file was written by a later version.
        package static let unsupportedFormat = Code(kind: .unsupportedFormat)

        /// A secret, a label, the attributes or a number of things is past a limit of ``VaultLimits``, or there is no memory.
        package static let limitExceeded = Code(kind: .limitExceeded)

        /// The collection cannot do that: the one in memory is neither locked nor deleted.
        package static let notSupported = Code(kind: .notSupported)

        /// A foreign program holds the file.
        package static let busy = Code(kind: .busy)

        /// A cipher refused to work, for want of memory or of random bytes.
        package static let cryptographyFailed = Code(kind: .cryptographyFailed)

        /// Reserved attributes of a new or changed item mean nothing, or exclude each other.
        ///
        /// Nothing was changed.
        package static let invalidAccessControl = Code(kind: .invalidAccessControl)

        /// The item is protected, and the call came without its key or without saying that the caller was authenticated for it.
        package static let authenticationNeeded = Code(kind: .authenticationNeeded)

        /// What was asked for needs a passcode, and `login` has none.
        package static let passcodeNotSet = Code(kind: .passcodeNotSet)

        /// The item's own password is another.
        package static let wrongApplicationPassword = Code(kind: .wrongApplicationPassword)

        /// A secret is to be sealed under a password of its own, and none was given.
        package static let applicationPasswordNeeded = Code(kind: .applicationPasswordNeeded)

        /// What was given reads like a recovery key, and its check says that a character is wrong.
        package static let mistypedRecoveryKey = Code(kind: .mistypedRecoveryKey)

        /// The key slot is the last that a password opens, and stays.
        package static let lastKeySlot = Code(kind: .lastKeySlot)

        /// The collection has no key slot of that number.
        package static let noSuchKeySlot = Code(kind: .noSuchKeySlot)

        /// The machine can keep no key, or does not give the one that it kept; the reason says why.
        package static let hostNotAvailable = Code(kind: .hostNotAvailable)

        /// Every code that there is now, for tables that must name each.
        package static var allCases: [Code] { Kind.allCases.map(Code.init(kind:)) }

        /// The name of the code.
        package var description: String { kind.rawValue }
    }
}
