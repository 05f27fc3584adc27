import KeychaindModel

/// The deletion of a collection's file: all of it or nothing, whatever part of it a power loss leaves.
///
/// 1. The file gets a name that is never listed, durably: the collection is deleted.
/// 2. The journal is removed, durably. A file without its journal would lack its latest changes.
/// 3. The collection is forgotten in `state.db`, so that nobody misses its file.
/// 4. The generations are removed, if they go with it; the name of the file says so.
/// 5. The renamed file is removed.
///
/// The next start does what is left of these steps.
struct FileDeletion {
    enum Extent: CaseIterable {
        case file
        case fileAndGenerations

        fileprivate var suffix: String {
            switch self {
            case .file: CollectionFormat.deletedSuffix
            case .fileAndGenerations: CollectionFormat.deletedWithGenerationsSuffix
            }
        }
    }

    let name: CollectionName
    private let folder: Folder
    private let extent: Extent

    init(of name: CollectionName, _ extent: Extent, in folder: Folder) {
        self.name = name
        self.folder = folder
        self.extent = extent
    }

    /// The deletion that a leftover belongs to; nil for any other file.
    init?(leftover: String, in folder: Folder) {
        guard let extent = Extent.allCases.first(where: { extent in leftover.hasSuffix(extent.suffix) }),
            let name = CollectionName(encoded: leftover.dropLast(extent.suffix.count))
        else { return nil }
        self.init(of: name, extent, in: folder)
    }

    private var file: String { name.fileName }
    private var leftover: String { name.encoded + extent.suffix }
    private var generations: Generations { Generations(of: name, in: folder, keeping: 0) }

    /// Step 1; after an error the file is there as before, unless the reason says that this is unknown.
    func begin() throws(VaultError) {
        if try folder.exists(file), try !rename() {
            try? DiskReserve(in: folder).release()
            if try !rename() { return try removeAndMark() }
        }
        do throws(VaultError) {
            try folder.synchronize()
        } catch {
            do throws(VaultError) {
                try folder.renameIfFree(leftover, to: file)
            } catch let second {
                throw Self.unknown(error, "; \(second.reason)")
            }
            throw error
        }
    }

    /// Renames the file; false if the folder has no room for the longer name, which may need another block.
    private func rename() throws(VaultError) -> Bool {
        do throws(VaultError) {
            try folder.rename(file, to: leftover)
        } catch  where error.code == .storageFull {
            return false
        } catch {
            if (try? folder.exists(file)) != false { throw error }
        }
        return true
    }

    /// Step 1 without room for the longer name: the removed file makes room for an empty one of that name.
    ///
    /// A power loss between the two leaves the generations, which are not lost if the file stays.
    private func removeAndMark() throws(VaultError) {
        do throws(VaultError) {
            try folder.remove(file)
        } catch {
            if (try? folder.exists(file)) != false { throw error }
        }
        if extent == .fileAndGenerations { try? folder.makeEmptyFile(leftover) }
        do throws(VaultError) {
            try folder.synchronize()
        } catch {
            // The generations stay, too.
            try? folder.remove(leftover)
            throw Self.unknown(error)
        }
    }

    private static func unknown(_ error: VaultError, _ more: String = "") -> VaultError {
        VaultError(error.code, reason: "\(error.reason); it is unknown whether the file is deleted\(more)")
    }

    /// Step 2.
    func removeJournal() throws(VaultError) {
        for suffix in ["-wal", "-shm", "-journal"] { try folder.remove(file + suffix) }
        try folder.synchronize()
    }

    /// Steps 2 to 5; `forget` is step 3.
    ///
    /// Nobody may have a file of this name open.
    func finish(forgetting forget: () throws(VaultError) -> Void) throws(VaultError) {
        // Another file may have the name: it was put back, or made anew.
        if try !folder.exists(file) { try removeRest(forgetting: forget) }
        if extent == .fileAndGenerations { try removeGenerations() }
        try folder.remove(leftover)
    }

    private func removeRest(forgetting forget: () throws(VaultError) -> Void) throws(VaultError) {
        try removeJournal()
        do throws(VaultError) {
            try forget()
        } catch {
            guard error.code == .storageFull, try folder.exists(leftover) else { throw error }
            // Makes room, and stays as a mark.
            try folder.truncate(leftover)
            try forget()
        }
    }

    private func removeGenerations() throws(VaultError) {
        let present = try folder.exists(file) ? CollectionFile.identifier(of: file, in: folder) : nil
        try generations.removeAll(exceptOf: present)
    }
}
