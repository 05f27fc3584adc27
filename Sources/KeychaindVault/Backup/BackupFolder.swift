import CKeychaindLinux
import Glibc
import KeychaindLog
import KeychaindModel
import KeychaindRights

/// The backup folder in the user's home: `NAME.keychain`, and `NAME.YYYYMMDD.keychain` for three earlier days.
///
/// The user may put anything there: access uses the user's rights and follows no link, and files that are no backups
/// stay.
package struct BackupFolder: Sendable {
    package static let days = 3

    private static let name = "backup"

    private let parent: String

    package var path: String { "\(parent)/keychaind/\(Self.name)" }

    /// - Parameter parent: the parent of the keychain folder, such as `~/.local/share`.
    package init(in parent: String) {
        self.parent = parent
    }

    /// In seconds since 1970; nil without the file or the folder.
    func lastChange(of file: String) throws(VaultError) -> Int64? {
        guard let base = try UserFolder.open(parent, followingLinks: true), let own = try base.folder("keychaind"),
            let folder = try own.folder(Self.name)
        else { return nil }
        return try folder.identity(of: file)?.seconds
    }

    /// Replaces the backup of a collection; keeps the last backup of an earlier day.
    ///
    /// Throws `unreadable` when the name belongs to something else, which is left alone, and disk errors.
    ///
    /// - Parameter begun: when the copy was begun, which becomes the time of the file: later changes are not in it.
    func keep(_ source: borrowing OpenedFile, of name: CollectionName, begun: Timestamp) throws(VaultError) {
        let folder = try open()
        let file = name.fileName
        let unfinished = name.unfinishedFileName
        if let last = try Self.checked(file, in: folder), case let day = Self.day(last.seconds),
            day != Self.day(Int64(begun.seconds))
        {
            let dated = "\(name.encoded).\(day)\(CollectionFormat.suffix)"
            if try Self.checked(dated, in: folder) == nil { try folder.renameIfFree(file, to: dated) }
        }
        _ = try Self.checked(unfinished, in: folder)
        try folder.remove(unfinished)
        do throws(VaultError) {
            let target = try folder.make(unfinished)
            try source.copy(to: target, maximumSize: .max)
            try target.setTime(begun)
            guard try source.hasSameBytes(as: target) else {
                throw VaultError(.storageFailed, reason: "the backup differs from its source when it is read back")
            }
            try folder.rename(unfinished, to: file)
        } catch {
            try? folder.remove(unfinished)
            throw error
        }
        let earlier = try folder.names().filter { other in Self.isDated(other, of: name) }
        for old in earlier.dropLast(Self.days) where (try? Self.checked(old, in: folder)) != nil {
            try folder.remove(old)
        }
        try folder.synchronize()
    }

    /// Opens the folder, creating it when it is missing.
    private func open() throws(VaultError) -> UserFolder {
        UserRights.perform {
            var path = ""
            for part in parent.split(separator: "/") {
                path += "/" + part
                mkdir(path, 0o700)
            }
        }
        guard let base = try UserFolder.open(parent, followingLinks: true) else {
            throw VaultError(.storageFailed, reason: "there is no folder \(parent)")
        }
        let folder = try base.makeFolder("keychaind").makeFolder(Self.name)
        try folder.closeToOthers()
        return folder
    }

    /// Returns the identity of the user's regular file; nil when there is none, throws when it is something else.
    private static func checked(
        _ name: String,
        in folder: borrowing UserFolder
    ) throws(VaultError) -> UserFolder.Identity? {
        guard try folder.identity(of: name) != nil else { return nil }
        do throws(VaultError) {
            return try folder.read(name, maximumSize: .max).identity()
        } catch {
            throw VaultError(.unreadable, reason: "\(name) in the backup folder is not a backup: \(error.reason)")
        }
    }

    private static func isDated(_ file: String, of name: CollectionName) -> Bool {
        let prefix = name.encoded + "."
        guard file.hasPrefix(prefix), file.hasSuffix(CollectionFormat.suffix) else { return false }
        let day = file.utf8.dropFirst(prefix.utf8.count).dropLast(CollectionFormat.suffix.utf8.count)
        return day.count == 8 && day.allSatisfy { digit in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) }
    }

    private static func day(_ seconds: Int64) -> String {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        let day = (Int(parts.tm_year) + 1900) * 10_000 + (Int(parts.tm_mon) + 1) * 100 + Int(parts.tm_mday)
        return String(day)
    }
}

/// A copy of a collection's file that only a password or a recovery key opens.
///
/// Without the slots of this machine and of the passcode: a leaked password of `login` then opens no copy of another
/// keychain.
struct SealedCopy: Sendable {
    private static let kinds: [StoredSlot.Kind] = [.password, .recoveryKey]

    private let name: CollectionName
    private let folder: Folder
    private let known: UInt64
    private let keys: CheckKeys
    private let configuration: VaultConfiguration

    /// - Parameter known: the sequence of the last change that is stored.
    init(
        of name: CollectionName,
        in folder: Folder,
        known: UInt64,
        _ keys: CheckKeys,
        _ configuration: VaultConfiguration
    ) {
        (self.name, self.folder, self.known, self.keys, self.configuration) = (name, folder, known, keys, configuration)
    }

    /// Creates the copy in the vault's folder, without past states, checks it, opens it and removes its name.
    ///
    /// Works beside a writer. Throws `unreadable` if the file is damaged, and `limitExceeded` if the copy is too large
    /// to be read back.
    func make() throws(VaultError) -> OpenedFile {
        let file = folder.file("backup-" + name.unfinishedFileName)
        try folder.remove("backup-" + name.unfinishedFileName)
        defer { try? folder.remove("backup-" + name.unfinishedFileName) }
        // A change meanwhile may overwrite what is being read.
        try retryingRead { (_) throws(VaultError) in
            let log = try CollectionLog(folder.file(name.fileName), known: known, readOnly: true, configuration)
            var header = try log.header()
            header.slots.removeAll { slot in !Self.kinds.contains { kind in kind.rawValue == slot.kind } }
            guard !header.slots.isEmpty else {
                throw VaultError(.notSupported, reason: "the collection has no password")
            }
            var rewriting = Rewriting()
            rewriting.changes = try CollectionLog.slotChanges(header)
            try logged { () throws(LogError) in _ = try log.records.copy(to: file, rewriting, keys.collection.log) }
        }
        try configuration.limits.check(copyBytes: folder.size(of: "backup-" + name.unfinishedFileName))
        let report = try CollectionLog.check(file, configuration, keys: keys)
        guard report.isSound else {
            throw VaultError(.unreadable, reason: "the copy is damaged: \(report.findings.joined(separator: "; "))")
        }
        return try OpenedFile(file, flags: O_RDONLY)
    }
}

extension OpenedFile {
    /// Sets the time of the file durably, unless the file system refuses times.
    fileprivate func setTime(_ time: Timestamp) throws(VaultError) {
        let date = timespec(tv_sec: Int(time.seconds), tv_nsec: Int(time.microseconds % 1_000_000) * 1_000)
        guard futimens(descriptor, [date, date]) == 0 else { return }
        try synchronize()
    }
}
