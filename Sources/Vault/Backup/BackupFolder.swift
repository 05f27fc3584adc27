import CLinux
import Glibc
import KeychainModel
import Rights

/// The folder in the user's home with sealed copies of keychains: `NAME.keychain`, and of three earlier days `NAME.YYYYMMDD.keychain`.
///
/// It is the user's, and so anything may be in it. It is used with the user's rights, no link in it is followed, and what is no
/// backup is left alone.
package struct BackupFolder: Sendable {
    /// How many copies of earlier days are kept.
    package static let days = 3

    private static let name = "backup"

    /// The folder that holds that of the keychains, such as `~/.local/share`.
    private let parent: String

    /// The path, for people.
    package var path: String { "\(parent)/keychaind/\(Self.name)" }

    /// - Parameter parent: the folder that holds that of the keychains, such as `~/.local/share`.
    package init(in parent: String) {
        self.parent = parent
    }

    /// Whether the last copy of a collection is as late as its last change, in whole seconds.
    package func isCurrent(_ collection: Collection) -> Bool {
        var status = stat()
        let file = path + "/" + collection.name.encoded + CollectionFormat.suffix
        guard lstat(file, &status) == 0 else { return false }
        return Int64(status.st_mtim.tv_sec) >= collection.modified.microsecondsSinceEpoch / 1_000_000
    }

    /// Puts a copy in the place of the one before; of the last one of an earlier day the copy is kept.
    ///
    /// Throws `unreadable` when there is something else in its place, which stays as it is; and what the disk may.
    func keep(_ source: borrowing OpenedFile, of name: CollectionName) throws(VaultError) {
        let folder = try open()
        let file = name.encoded + CollectionFormat.suffix
        let unfinished = name.encoded + CollectionFormat.unfinishedSuffix
        if let last = try Self.checked(file, in: folder), case let day = Self.day(last.seconds),
            day != Self.day(Int64(time(nil)))
        {
            let dated = "\(name.encoded).\(day)\(CollectionFormat.suffix)"
            if try Self.checked(dated, in: folder) == nil { try folder.renameIfFree(file, to: dated) }
        }
        _ = try Self.checked(unfinished, in: folder)
        try folder.remove(unfinished)
        do throws(VaultError) {
            let target = try folder.make(unfinished)
            try source.copy(to: target, maximumSize: .max)
            guard try source.hasSameBytes(as: target) else {
                throw VaultError(.storageFailed, reason: "the disk gives other bytes than were written")
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

    /// Opens the folder, which is made when it is missing.
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

    /// The identity of a plain file of the user's; nil when there is none.
    ///
    /// Throws when something else has the name.
    private static func checked(
        _ name: String,
        in folder: borrowing UserFolder
    ) throws(VaultError) -> UserFolder.Identity? {
        guard folder.contains(name) else { return nil }
        do throws(VaultError) {
            return try folder.read(name, maximumSize: .max).identity()
        } catch {
            throw VaultError(.unreadable, reason: "\(name) in the folder is no backup: \(error.reason)")
        }
    }

    private static func isDated(_ file: String, of name: CollectionName) -> Bool {
        let prefix = name.encoded + "."
        guard file.hasPrefix(prefix), file.hasSuffix(CollectionFormat.suffix) else { return false }
        let day = file.utf8.dropFirst(prefix.utf8.count).dropLast(CollectionFormat.suffix.utf8.count)
        return day.count == 8 && day.allSatisfy { digit in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) }
    }

    /// The day of a time, in UTC.
    private static func day(_ seconds: Int64) -> String {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        let day = (Int(parts.tm_year) + 1900) * 10_000 + (Int(parts.tm_mon) + 1) * 100 + Int(parts.tm_mday)
        return String(day)
    }
}
