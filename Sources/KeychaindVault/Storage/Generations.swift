import Glibc
import KeychaindModel

/// Generations of a collection: daily copies of the whole file, named by ``GenerationName``.
///
/// Their numbers give the order: the clock may be set.
///
/// ``Vault/stage(copy:_:_:)`` opens one for a restore.
struct Generations: Sendable {
    static let folderName = "generations"

    /// The shortest time between two generations, in seconds.
    static let interval: Int64 = 24 * 60 * 60

    /// The time after which a copy that failed is tried again, in seconds.
    static let pause: Int64 = 10 * 60

    let folder: Folder
    let source: Folder
    let name: CollectionName
    private let kept: Int

    init(of name: CollectionName, in folder: Folder, keeping kept: Int) {
        self.folder = folder.folder(Self.folderName)
        source = folder
        self.name = name
        self.kept = kept
    }

    /// Copies the collection unless the newest generation is recent and `always` is false; removes the oldest.
    ///
    /// Works beside a concurrent writer. The copy gets its name when it was checked, and is complete and durable.
    /// Throws `unreadable` if it is damaged, and `limitExceeded` if it is too large to be read back.
    ///
    /// - Returns: whether there is a new one.
    @discardableResult
    func keep(
        at now: Timestamp,
        always: Bool = false,
        within limits: VaultLimits,
        checkedWith keys: CheckKeys?
    ) throws(VaultError) -> Bool {
        guard kept > 0 else { return false }
        try folder.create()
        let existing = try names()
        let seconds = now.microsecondsSinceEpoch / 1_000_000
        if !always, let newest = existing.last {
            let next = GenerationName(after: newest, at: seconds, of: name)
            if next.isSoon(after: newest) { return false }
        }
        let path = source.file(name.fileName)
        let database = try Database(path: path, mode: .shared)
        let unfinished = name.unfinishedFileName
        try folder.remove(unfinished)
        try folder.makeEmptyFile(unfinished)
        do throws(VaultError) {
            try database.run("VACUUM INTO ?1", .text(folder.file(unfinished)))
            try limits.check(copyBytes: folder.size(of: unfinished))
            let report = try FileCheck.run(folder.file(unfinished), .immutable, keys: keys)
            guard report.isSound else {
                throw VaultError(.unreadable, reason: "the copy is damaged: \(report.findings.joined(separator: "; "))")
            }
            try folder.synchronize(unfinished)
            try folder.rename(unfinished, to: GenerationName(after: existing.last, at: seconds, of: name).file)
            try folder.synchronize()
        } catch {
            try? folder.remove(unfinished)
            throw error
        }
        for old in superfluous(try names()) { try folder.remove(old.file) }
        return true
    }

    /// All but the newest states of days, and the newest of those that were kept between them, before restores.
    ///
    /// Otherwise a few restores on one day would push out the states of all other days.
    private func superfluous(_ existing: [GenerationName]) -> [GenerationName] {
        var daily: [GenerationName] = []
        var between: [GenerationName] = []
        for generation in existing {
            if let last = daily.last, generation.isSoon(after: last) {
                between.append(generation)
            } else {
                daily.append(generation)
            }
        }
        return daily.dropLast(kept) + between.dropLast(kept)
    }

    /// Removes the generations, durably, except those of the collection with this identifier.
    func removeAll(exceptOf present: [UInt8]?) throws(VaultError) {
        guard try source.exists(Self.folderName) else { return }
        try folder.remove(name.unfinishedFileName)
        for generation in try existing() where try !isOf(present, generation) { try folder.remove(generation) }
        try folder.synchronize()
    }

    /// Opens the newest generation of the collection with this identifier, of any if it is nil; nil if there is none.
    func openNewest(of identifier: [UInt8]?) throws(VaultError) -> OpenedFile? {
        guard try source.exists(Self.folderName) else { return nil }
        for generation in try existing().reversed() {
            guard try identifier == nil ? true : isOf(identifier, generation) else { continue }
            return try OpenedFile(folder.file(generation), flags: O_RDONLY)
        }
        return nil
    }

    private func isOf(_ collection: [UInt8]?, _ generation: String) throws(VaultError) -> Bool {
        guard let collection else { return false }
        do throws(VaultError) {
            return try CollectionFile.identifier(of: generation, in: folder) == collection
        } catch {
            if error.isTriedAgain { throw error }
            return false
        }
    }

    /// Oldest first.
    func existing() throws(VaultError) -> [String] {
        try names().map(\.file)
    }

    private func names() throws(VaultError) -> [GenerationName] {
        try folder.names().compactMap { file in GenerationName(file, of: name) }.sorted()
    }
}
