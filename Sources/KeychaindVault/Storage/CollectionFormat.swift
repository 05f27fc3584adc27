import KeychaindLog
import KeychaindModel

/// Constants of a keychain's file; docs/file-format.md describes it.
enum CollectionFormat {
    /// `KCHN`, the application of the log.
    static let application: UInt32 = 0x4b43_484e

    static let maximumSlots = 64

    static let suffix = ".keychain"

    /// The suffix of an unfinished file, which can be deleted.
    static let unfinishedSuffix = ".keychain-new"

    /// The suffix of a deleted file, which the next start removes.
    static let deletedSuffix = ".keychain-deleted"

    /// In bytes.
    static let identifierSize = 16
}

extension CollectionName {
    package var fileName: String { encoded + CollectionFormat.suffix }

    var unfinishedFileName: String { encoded + CollectionFormat.unfinishedSuffix }
}

extension RecordID {
    private static let slotsKind: UInt8 = 1
    private static let itemKind: UInt8 = 2
    private static let stateKind: UInt8 = 3

    /// The key slots, in two records a page apart, so that a damaged block of the disk leaves one.
    static let slots = [0, 1].compactMap { number in RecordID(kind: slotsKind, number: number) }

    /// The state of the collection; each change stores it.
    static let state = RecordID(kind: stateKind, number: 0).unsafelyUnwrapped

    /// Nil if the number of the item is too large for a log.
    init?(_ item: ItemID) { self.init(kind: Self.itemKind, number: item.rawValue) }

    /// The item of a record; nil for other records.
    var item: ItemID? { kind == Self.itemKind ? ItemID(rawValue: number) : nil }
}

extension LogError {
    var asVaultError: VaultError {
        let code: VaultError.Code =
            switch self.code {
            case .unreadable, .foreign, .damaged, .noSuchRecord, .noHistory: .unreadable
            case .unsupportedFormat: .unsupportedFormat
            case .inUse: .busy
            case .displaced: .displaced
            case .limitExceeded: .limitExceeded
            case .storageFull: .storageFull
            case .readOnly: .readOnly
            case .storageFailed, .invalidChange: .storageFailed
            case .cryptographyFailed: .cryptographyFailed
            }
        return VaultError(code, reason: reason)
    }
}

/// Converts the error of a log.
func logged<Result: ~Copyable>(_ body: () throws(LogError) -> Result) throws(VaultError) -> Result {
    do throws(LogError) { return try body() } catch { throw error.asVaultError }
}
