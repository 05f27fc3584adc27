import CKeychaindLinux
import Glibc
import KeychaindModel
import Logging

/// Generations of a collection: daily copies of the whole file, `generations/NAME.YYYYMMDDTHHMMSSZ.keychain`.
///
/// ``Vault/stage(copy:_:)`` opens one for a restore.
struct Generations: Sendable {
    static let folderName = "generations"

    /// The shortest time between two generations, in seconds.
    static let interval: Int64 = 24 * 60 * 60

    let folder: Folder
    let source: Folder
    private let name: CollectionName
    private let kept: Int

    init(of name: CollectionName, in folder: Folder, keeping kept: Int) {
        self.folder = folder.folder(Self.folderName)
        source = folder
        self.name = name
        self.kept = kept
    }

    /// Copies the collection unless the newest generation is recent and `always` is false; removes the oldest.
    ///
    /// Works beside a concurrent writer. The copy gets its name when it is complete and durable.
    func keep(at now: Timestamp, always: Bool = false) throws(VaultError) {
        guard kept > 0 else { return }
        try folder.create()
        let existing = try self.existing()
        let seconds = now.microsecondsSinceEpoch / 1_000_000
        if !always, let newest = existing.last, let time = time(of: newest), seconds - time < Self.interval,
            seconds >= time
        {
            return
        }
        let path = source.file(name.fileName)
        let database = try Database(path: path, mode: .readWrite)
        let unfinished = name.unfinishedFileName
        try folder.remove(unfinished)
        try folder.makeEmptyFile(unfinished)
        do throws(VaultError) {
            try database.run("VACUUM INTO ?1", .text(folder.file(unfinished)))
            try folder.synchronize(unfinished)
            try folder.rename(unfinished, to: fileName(at: seconds))
            try folder.synchronize()
        } catch {
            try? folder.remove(unfinished)
            throw error
        }
        for old in existing.dropLast(kept - 1) { try folder.remove(old) }
    }

    func removeAll() throws(VaultError) {
        guard source.contains(Self.folderName) else { return }
        try folder.remove(name.unfinishedFileName)
        for generation in try existing() { try folder.remove(generation) }
        try folder.synchronize()
    }

    /// Oldest first.
    func existing() throws(VaultError) -> [String] {
        try folder.names().filter { file in time(of: file) != nil }
    }

    private func fileName(at seconds: Int64) -> String {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        let date = [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)]
        let clock = [Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec)]
        let stamp = date.map(Self.twoDigits).joined() + "T" + clock.map(Self.twoDigits).joined() + "Z"
        return name.encoded + "." + stamp + CollectionFormat.suffix
    }

    /// The time of a generation, in seconds since the epoch; nil when the file is none of this collection.
    private func time(of file: String) -> Int64? {
        let prefix = name.encoded + "."
        guard file.hasPrefix(prefix), file.hasSuffix(CollectionFormat.suffix) else { return nil }
        let stamp = Array(file.utf8.dropFirst(prefix.utf8.count).dropLast(CollectionFormat.suffix.utf8.count))
        guard stamp.count == 16, stamp[8] == UInt8(ascii: "T"), stamp[15] == UInt8(ascii: "Z") else { return nil }
        func number(_ range: Range<Int>) -> CInt? { CInt(String(decoding: stamp[range], as: UTF8.self)) }
        guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8),
            let hour = number(9..<11), let minute = number(11..<13), let second = number(13..<15)
        else { return nil }
        var parts = tm()
        parts.tm_year = year - 1900
        parts.tm_mon = month - 1
        parts.tm_mday = day
        parts.tm_hour = hour
        parts.tm_min = minute
        parts.tm_sec = second
        return Int64(timegm(&parts))
    }

    private static func twoDigits(_ number: Int) -> String {
        (number < 10 ? "0" : "") + String(number)
    }
}

extension Collection {
    /// Copies the file before the first change of a day, so that a program's mistake can be undone.
    ///
    /// A damaged file is not copied: it would push out an intact generation. A failed copy does not stop the change.
    func keepGeneration() async {
        let configuration = context.configuration
        guard configuration.generations > 0, problems.isEmpty, table.count > 0, case .file = storage else { return }
        let now = configuration.now()
        if let lastGeneration {
            let age = now.microsecondsSinceEpoch - lastGeneration.microsecondsSinceEpoch
            if age >= 0, age / 1_000_000 < Generations.interval { return }
        }
        lastGeneration = now
        let generations = Generations(of: name, in: context.folder, keeping: configuration.generations)
        do throws(VaultError) {
            try await context.copyWorker.perform { (_) throws(VaultError) in try generations.keep(at: now) }
        } catch {
            configuration.logger.warning("\(name): could not copy the file to a generation: \(error)")
        }
    }

    /// Removes newly protected items from generations in which they need less authentication, durably.
    func removeFromGenerations(_ change: CollectionChange) async throws(VaultError) {
        var protections: [ItemID: ItemProtection] = [:]
        for case .update(let row, _) in change.rows {
            let new = ItemProtection(of: row.metadata.attributes)
            let old = table.protection(of: row.id)
            guard new.needsAuthentication, !old.needsAuthentication || new.keyAlternatives != old.keyAlternatives else {
                continue
            }
            protections[row.id] = new
        }
        guard !protections.isEmpty, let keys else { return }
        let generations = Generations(of: name, in: context.folder, keeping: context.configuration.generations)
        let configuration = context.configuration
        try await context.copyWorker.perform { [protections] (_) throws(VaultError) in
            try generations.removeUnprotected(protections, keys: keys, configuration: configuration)
        }
    }
}
