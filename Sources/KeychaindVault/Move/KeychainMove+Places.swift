package import Logging

extension KeychainMove {
    /// Where a user's keychains from before the domain may be.
    package struct Places: Sendable {
        let home: String
        /// The more important ones first.
        let folders: [String]

        package init(home: String, folders: [String]) {
            self.home = home
            self.folders = folders
        }
    }

    /// Moves the keychains of the first folder that has some; see ``run()``.
    ///
    /// Throws if the user database names no home folder. Before the move is decided, also throws if a folder cannot be
    /// read, since no later start looks again once there is nothing to move; and if an earlier move was interrupted and
    /// its keychains are no longer in their folder. The copies may then be the only ones, and the next move, even of
    /// another folder, would remove them.
    ///
    /// - Parameter places: nil if the user database does not say where the home folder is.
    package static func run(
        from places: Places?,
        to new: String,
        logger: Logger
    ) throws(VaultError) -> (folder: String, outcome: Outcome) {
        let target = Folder(new)
        let record = try MoveRecord.load(from: target)
        if case .done = record { return ("", .doneBefore) }
        guard let places else {
            let reason = "the user database does not name the home folder, which may have keychains to move"
            throw VaultError(.storageFailed, reason: reason)
        }
        for folder in places.folders {
            do throws(VaultError) {
                guard try hasKeychains(folder) else { continue }
                if record == nil { try checkThatCopies(in: target, mayGiveWayTo: folder) }
            } catch {
                // After the decision the copies are complete; only the old files wait for their removal.
                guard case .removing = record else { throw error }
                logger.warning(
                    "The folder of the moved keychains cannot be read; a later start removes the old files",
                    metadata: ["folder": "\(folder)", "reason": "\(error)"]
                )
                return (folder, .postponed)
            }
            return (folder, try KeychainMove(from: folder, to: new, logger: logger).run())
        }
        if record == nil, let source = try sourceOfCopies(in: target) { throw interruption(source) }
        guard try hasFiles(places.home) else { return (places.home, .postponed) }
        let folder = places.folders.first ?? places.home
        return (folder, try KeychainMove(from: folder, to: new, logger: logger).run())
    }

    /// Throws unless the copies of an interrupted move can be made again: from the folder that is read next, or from
    /// another one, which keeps its keychains.
    private static func checkThatCopies(in target: Folder, mayGiveWayTo folder: String) throws(VaultError) {
        guard let source = try sourceOfCopies(in: target), source != folder else { return }
        guard try hasKeychains(source) else { throw interruption(source) }
    }

    /// The folder that an interrupted move has read; nil if no move was interrupted.
    private static func sourceOfCopies(in target: Folder) throws(VaultError) -> String? {
        guard try target.exists(sourceName) else { return nil }
        return try FileText.read(target.file(sourceName), maximumSize: maximumSourceSize)
    }

    private static func interruption(_ source: String) -> VaultError {
        VaultError(
            .storageFailed,
            reason: "the move of the keychains was interrupted, and needs those in the folder \(source)"
        )
    }

    /// Whether there is a home folder with files.
    ///
    /// An empty one may be the mount point of one that is not mounted yet.
    private static func hasFiles(_ home: String) throws(VaultError) -> Bool {
        guard let folder = try UserFolder.open(home, followingLinks: true) else { return false }
        return try !folder.names().isEmpty
    }

    private static func hasKeychains(_ path: String) throws(VaultError) -> Bool {
        guard let folder = try UserFolder.open(path) else { return false }
        return try folder.names().contains { name in name.hasSuffix(CollectionFormat.suffix) }
    }
}
