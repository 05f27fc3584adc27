import Glibc
import KeychaindModel
package import Logging

/// The one-time move of a user's keychains from the home folder into the folder of the domain.
///
/// 1. Notes the old folder in `moving-from`. Copies every file into `incoming`, and compares it byte for byte.
/// 2. Lists the new names in `moving` and renames the copies.
/// 3. Lists the old files in `moved`. From here on the copies are authoritative.
/// 4. Removes the old files unless they have changed, and marks `moved` as done.
///
/// After a crash before step 3 the old files are intact and the next start begins again; after step 3 it continues with
/// step 4. Files that the vault cannot read are copied unchanged and kept.
package struct KeychainMove {
    /// The progress of the move, for tests that interrupt it.
    package enum Step: Equatable, Sendable {
        case cleared
        case copied(String)
        case announced
        case placed(String)
        case decided
        case removed(String)
        case explained
    }

    package enum Outcome: Equatable, Sendable {
        /// An earlier start did it.
        case doneBefore

        /// There was nothing to move, now or later.
        case nothing

        /// There is no home folder now, or an empty one, as before it is mounted; or the old folder cannot be read
        /// after the decision. A later start looks again.
        case postponed

        /// Files were moved; some may have been left, with the reasons.
        case moved(files: [String], left: [String: String])
    }

    /// In bytes.
    package static let maximumFileSize: Int64 = 1 << 30

    /// In bytes.
    package static let maximumSize: Int64 = 4 << 30

    package static let noteName = "MOVED.txt"

    static let announcementName = "moving"
    static let sourceName = "moving-from"
    /// In bytes, which is more than the path of any folder has.
    static let maximumSourceSize: Int64 = 64 << 10
    static let incomingName = "incoming"

    let oldPath: String
    let folder: Folder
    let incoming: Folder
    let logger: Logger
    let onStep: (Step) throws(VaultError) -> Void

    /// - Parameter onStep: called after each step; throwing interrupts the move like a crash.
    package init(
        from old: String,
        to new: String,
        logger: Logger,
        onStep: @escaping (Step) throws(VaultError) -> Void = { _ in }
    ) {
        oldPath = old
        folder = Folder(new)
        incoming = Folder(new).folder(Self.incomingName)
        self.logger = logger
        self.onStep = onStep
    }

    /// Moves the keychains, once; blocks.
    ///
    /// Throws `inUse` when another process uses either folder, `busy` when the old files change, and disk errors. Then
    /// do not open the vault: a new keychain would block the move of the old one.
    package func run() throws(VaultError) -> Outcome {
        let lock = try FolderLock(folder)
        defer { withExtendedLifetime(lock) {} }
        switch try MoveRecord.load(from: folder) {
        case .done: return .doneBefore
        case .removing(let files):
            try finish(files, left: [:])
            return .moved(files: files.map(\.name), left: [:])
        case nil: break
        }
        try clear()
        try onStep(.cleared)
        guard let old = try UserFolder.open(oldPath) else { return try decideThatThereIsNothing() }
        let candidates = try candidates(in: old)
        guard !candidates.isEmpty else { return try decideThatThereIsNothing() }
        let oldLock = try old.lock()
        defer { withExtendedLifetime(oldLock) {} }
        try FileText.write(oldPath, to: Self.sourceName, in: folder)
        var copies = try copy(candidates, from: old)
        try announce(copies.placed)
        try onStep(.announced)
        for file in copies.placed {
            try place(file)
            try onStep(.placed(file))
        }
        try folder.synchronize()
        copies.removable.removeAll { file in copies.left[file.name] != nil }
        try MoveRecord.removing(copies.removable).save(in: folder)
        try onStep(.decided)
        try finish(copies.removable, left: copies.left)
        return .moved(files: copies.placed, left: copies.left)
    }

    private func decideThatThereIsNothing() throws(VaultError) -> Outcome {
        try MoveRecord.done.save(in: folder)
        return .nothing
    }

    /// Removes leftovers of an interrupted move; no vault has been opened since, so final names are unchanged copies.
    private func clear() throws(VaultError) {
        if try folder.exists(Self.announcementName) {
            let text = try FileText.read(folder.file(Self.announcementName), maximumSize: 4 << 20)
            for name in text.split(separator: "\n") where isExpected(name) {
                try folder.remove(String(name))
            }
            try folder.synchronize()
            try folder.remove(Self.announcementName)
        }
        if try folder.exists(Self.incomingName) {
            for name in (try? incoming.names()) ?? [] { try incoming.remove(name) }
            rmdir(incoming.path)
        }
        // Last: as long as there are copies, it says where they come from.
        try folder.remove(Self.sourceName)
    }

    /// Removes the unchanged old files and leaves a note; files that cannot be removed are renamed.
    private func finish(_ files: [MoveRecord.OldFile], left: [String: String]) throws(VaultError) {
        // The announced names are the keychains from here on.
        try folder.remove(Self.announcementName)
        try clear()
        if let old = try? UserFolder.open(oldPath) {
            for file in files {
                remove(file.name, file.identity, from: old)
                try onStep(.removed(file.name))
            }
            explain(in: old, files: files, left: left)
            try? old.synchronize()
        }
        try onStep(.explained)
        try MoveRecord.done.save(in: folder)
    }

    private func remove(_ name: String, _ identity: UserFolder.Identity, from old: borrowing UserFolder) {
        do throws(VaultError) {
            guard let present = try old.identity(of: name) else { return }
            guard present == identity else {
                logger.warning(
                    "A file has changed since it was copied and stays in the old folder",
                    metadata: ["file": "\(oldPath)/\(name)"]
                )
                return
            }
            try old.remove(name)
        } catch {
            let reason = error
            do throws(VaultError) {
                try old.renameIfFree(name, to: name + ".moved")
            } catch {
                logger.warning(
                    "A moved file could not be removed from the old folder",
                    metadata: ["file": "\(oldPath)/\(name)", "reason": "\(reason)"]
                )
            }
        }
    }

    private func explain(in old: borrowing UserFolder, files: [MoveRecord.OldFile], left: [String: String]) {
        do throws(VaultError) {
            try old.remove(Self.noteName)
            try old.make(Self.noteName).write(note(files.map(\.name), left))
        } catch {
            logger.warning("The note in the old folder could not be written", metadata: ["reason": "\(error)"])
        }
    }

    private func note(_ files: [String], _ left: [String: String]) -> String {
        var lines = [
            "keychaind has moved your keychains to", "", "    \(folder.path)", "",
            "where only keychaind can read and write them, and no other program of yours.",
            "They open with the same passwords as before.", "", "Moved:", "",
        ]
        let keychains = files.filter { name in name.hasSuffix(CollectionFormat.suffix) }
        lines += keychains.sorted().map { name in "    \(name)" }
        if !left.isEmpty {
            lines += ["", "Still here:", ""]
            lines += left.sorted { $0.key < $1.key }.map { file in "    \(file.key): \(file.value)" }
        }
        lines += [
            "", "To have a copy: keychaind keeps sealed backups of your keychains in the folder",
            "`backup` beside this file. They open with your password or a recovery key.",
            "An administrator can copy the files themselves.", "",
            "To put a keychain that is still here in its place: docs/backup.md of keychaind,",
            "\"Make and restore backups\".", "",
        ]
        return lines.joined(separator: "\n")
    }
}
