import KeychainModel
import Logging

/// The folder of a vault as its worker's thread has it: the lock, and the files that belong to no collection.
final class VaultFolder {
    /// What was found in the folder.
    struct Contents: Sendable {
        /// The key of the blind index.
        var indexKey: BlindIndexKey

        /// The collections that have a file, rising.
        var names: [CollectionName]

        /// The aliases, by alias.
        var aliases: [String: CollectionName]
    }

    private let folder: Folder
    private let logger: Logger
    private var lock: FolderLock?
    private var stateFile: StateFile?

    init(_ folder: Folder, logger: Logger) {
        self.folder = folder
        self.logger = logger
    }

    /// Takes the lock, clears away what a crash left unfinished, and reads what is there.
    func open() throws(VaultError) -> Contents {
        do throws(VaultError) {
            try folder.create()
            lock = try FolderLock(folder)
            let indexKey = try IndexKeyFile.load(from: folder, logger: logger)
            stateFile = try StateFile.open(in: folder, logger: logger)
            var aliases: [String: CollectionName] = [:]
            for (alias, encoded) in try stateFile?.aliases() ?? [:] {
                aliases[alias] = CollectionName(encoded: encoded)
            }
            return Contents(indexKey: indexKey, names: try names(), aliases: aliases)
        } catch {
            close()
            throw error
        }
    }

    /// Sets an alias; nil removes it.
    func setAlias(_ alias: String, to name: CollectionName?) throws(VaultError) {
        try openedState().setAlias(alias, to: name?.encoded)
    }

    /// Removes all aliases of a collection.
    func removeAliases(of name: CollectionName) throws(VaultError) {
        try openedState().removeAliases(of: name.encoded)
    }

    /// Closes the files, and gives the lock back.
    func close() {
        do throws(VaultError) {
            try stateFile?.finish()
        } catch {
            logger.warning("\(StateFile.name): the journal stays for now: \(error)")
        }
        stateFile = nil
        lock = nil
    }

    private func openedState() throws(VaultError) -> StateFile {
        guard let stateFile else { throw VaultError(.readOnly, reason: "the data folder cannot be written") }
        return stateFile
    }

    private func names() throws(VaultError) -> [CollectionName] {
        var names: [CollectionName] = []
        for file in try folder.names() {
            if isUnfinished(file) {
                try? folder.remove(file)
            } else if file.hasSuffix(CollectionFormat.suffix) {
                let stem = file.dropLast(CollectionFormat.suffix.count)
                if let name = CollectionName(encoded: stem), name != .session {
                    names.append(name)
                } else {
                    logger.warning("\(file) is left alone: its name is not that of a collection")
                }
            }
        }
        return names
    }

    /// Whether a file is what a crash left of one that was being made: there is nothing of worth in it.
    private func isUnfinished(_ file: String) -> Bool {
        let suffix = CollectionFormat.unfinishedSuffix
        return folder.isWritable && (file.hasSuffix(suffix) || file.hasSuffix(suffix + "-journal"))
    }
}
