import Glibc
package import KeychaindGcrypt
import KeychaindModel

/// A failure of the vault; its reason, for logs and callers, never holds a secret, password or key.
package struct VaultError: Error, Equatable {
    package let code: Code

    package let reason: String

    package init(_ code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Converts a failure of a cipher; a failed authentication becomes `unreadable`.
    package init(_ error: GcryptError) {
        self.init(error.code == .authenticationFailed ? .unreadable : .cryptographyFailed, reason: error.reason)
    }

    package static func == (first: VaultError, second: VaultError) -> Bool {
        first.code == second.code
    }
}

extension VaultError: CustomStringConvertible {
    package var description: String { "\(code): \(reason)" }
}

extension VaultError {
    package enum Code: CaseIterable, Sendable {
        /// The password opens no key slot of the collection.
        case wrongPassword

        case emptyPassword

        case locked

        /// The stored data is damaged or foreign, and is left as it is.
        case unreadable

        case noSuchItem

        case noSuchCollection

        /// Another process, or another vault in this one, uses the folder.
        case inUse

        case storageFull

        /// The folder or the file is not writable.
        case readOnly

        /// The disk failed.
        case storageFailed

        /// Another program has replaced or removed the file while it was open.
        case displaced

        /// The file has the format of another version.
        case unsupportedFormat

        /// A limit of ``VaultLimits`` is exceeded, or memory is short.
        case limitExceeded

        case notSupported

        /// Another program uses the file, or another caller changed the item first.
        case busy

        /// A cipher failed, for lack of memory or of random bytes.
        case cryptographyFailed

        /// The reserved attributes of a new or changed item are invalid or contradict each other.
        case invalidAccessControl

        /// The item is protected, and the caller gave no key or was not authenticated.
        case authenticationNeeded

        /// The operation needs a passcode, and `login` has none.
        case passcodeNotSet

        case wrongApplicationPassword

        /// The item needs an application password, and none was given.
        case applicationPasswordNeeded

        /// The text looks like a recovery key with a wrong character.
        case mistypedRecoveryKey

        /// The key slot is the last password slot and cannot be removed.
        case lastKeySlot

        case noSuchKeySlot

        /// The machine cannot keep a key, or does not return it; the reason says why.
        case hostNotAvailable
    }
}

extension VaultError {
    init(errno number: CInt, doing what: String) {
        let code: Code =
            switch number {
            case ENOSPC, EDQUOT: .storageFull
            case EACCES, EPERM, EROFS: .readOnly
            default: .storageFailed
            }
        self.init(code, reason: "could not \(what): \(String(cString: strerror(number)))")
    }
}

extension VaultError {
    static let vaultClosed = VaultError(.storageFailed, reason: "the vault is closed")
    static let collectionDeleted = VaultError(.noSuchCollection, reason: "the collection was deleted")
    static let collectionRetired = VaultError(.locked, reason: "the collection is being opened again")
    static let lockedMeanwhile = VaultError(
        .locked,
        reason: "the collection was locked while it was being unlocked"
    )
    static let collectionWasLocked = VaultError(.locked, reason: "the collection was locked")
    static let collectionLocked = VaultError(.locked, reason: "the collection is locked")
    static let noKeySlotOpens = VaultError(.wrongPassword, reason: "the password opens no key slot")

    static func noItem(_ id: ItemID) -> VaultError {
        VaultError(.noSuchItem, reason: "there is no item \(id)")
    }

    static func itemChanged(_ id: ItemID) -> VaultError {
        VaultError(.busy, reason: "item \(id) was changed at the same time")
    }
}

/// Converts the error of a cipher.
func cipher<Result: ~Copyable>(_ body: () throws(GcryptError) -> Result) throws(VaultError) -> Result {
    do throws(GcryptError) {
        return try body()
    } catch {
        throw VaultError(error)
    }
}
