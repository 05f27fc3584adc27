import KeychaindLog
import KeychaindModel

/// The deletion of a collection's file: all of it or nothing, whatever part of it a power loss leaves.
///
/// 1. The file gets a name that is never listed, durably: the collection is deleted.
/// 2. The collection is forgotten in `state`, so that its file is not missed.
/// 3. The file becomes a past one; or it is removed with those, as the suffix of its name says.
///
/// The next start does what is left of these steps.
struct FileDeletion {
    enum Extent: CaseIterable {
        case file
        case fileAndPast

        fileprivate var suffix: String {
            switch self {
            case .file: CollectionFormat.deletedSuffix
            case .fileAndPast: CollectionFormat.deletedSuffix + "-all"
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

    /// Step 1; after an error the file is there as before, unless the reason says that this is unknown.
    func begin() throws(VaultError) {
        if try folder.exists(file), try !rename() { return try remove() }
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

    /// Step 1 without room for the longer name.
    private func remove() throws(VaultError) {
        do throws(VaultError) {
            try folder.remove(file)
        } catch {
            if (try? folder.exists(file)) != false { throw error }
        }
        // With room that the file has left, a mark takes its past ones along, too.
        if extent == .fileAndPast { try? folder.makeEmptyFile(leftover) }
        do throws(VaultError) {
            try folder.synchronize()
        } catch {
            try? folder.remove(leftover)
            throw Self.unknown(error)
        }
    }

    private static func unknown(_ error: VaultError, _ more: String = "") -> VaultError {
        VaultError(error.code, reason: "\(error.reason); it is unknown whether the file is deleted\(more)")
    }

    /// Steps 2 and 3; `forget` is step 2.
    ///
    /// No file of this name may be open.
    func finish(
        _ configuration: VaultConfiguration,
        forgetting forget: () throws(VaultError) -> Void
    ) throws(VaultError) {
        // Another file may have the name: it was put back, or made anew.
        let isGone = try !folder.exists(file)
        if isGone { try forget() }
        let past = PastFiles(of: name, in: folder)
        switch extent {
        case .file where configuration.generations > 0:
            guard try folder.exists(leftover) else { return }
            try folder.rename(leftover, to: past.newName(at: configuration.now()))
            try past.prune(keeping: configuration.generations)
        case .file: try folder.remove(leftover)
        case .fileAndPast:
            let log = isGone ? nil : try CollectionLog(folder.file(file), readOnly: true, configuration)
            try past.removeAll(exceptOf: log?.records.uuid, configuration)
            try folder.remove(leftover)
        }
    }
}
