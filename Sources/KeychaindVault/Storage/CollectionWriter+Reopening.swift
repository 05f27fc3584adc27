/// Opening the file again, unless another program has put something else in its place.
extension CollectionWriter {
    /// Opens the file, shared if other connections read it.
    func openFile() throws(VaultError) -> CollectionFile {
        let file = try CollectionFile(
            name.fileName,
            in: folder,
            limits: configuration.limits,
            maximumPages: configuration.maximumPages,
            shared: readers > 0
        )
        self.file = file
        return file
    }

    /// Opens the file without what the present connection has read.
    func reopenFile() throws(VaultError) -> CollectionFile {
        // Two descriptors of one process would lose each other's locks.
        file = nil
        resting = nil
        return try openFile()
    }

    func openedFile() throws(VaultError) -> CollectionFile {
        if let file { return file }
        guard let contents = resting else {
            throw VaultError(.storageFailed, reason: "the collection's file is closed")
        }
        guard let stamp = try FileStamp(folder.file(name.fileName)) else { throw displaced }
        do throws(VaultError) {
            let file = try retryingRead(until: { file in file.passingObstacle == nil }) { (_) throws(VaultError) in
                self.file = nil
                let file = try openFile()
                guard try RestingFile(file).isSame(as: contents) else { throw displaced }
                if stamp != contents.stamp { try verify(file) }
                return file
            }
            // Otherwise it can only be read for now, and is closed to be changed.
            if file.passingObstacle == nil { resting = nil }
            return file
        } catch {
            file = nil
            // It was sound when it was closed.
            throw error.code == .unreadable ? displaced : error
        }
    }

    /// Opens a file again that another program has written into, or may have.
    private func openTouchedFile() throws(VaultError) -> CollectionFile {
        // Otherwise the new connection would apply what a failed commit has left.
        try file?.database.settle()
        // What this connection has read may no longer be there, and its journal must not be moved into the file.
        let contents = file.flatMap { file in try? RestingFile(file) }
        file = nil
        resting = contents
        guard contents != nil else { throw displaced }
        return try openedFile()
    }

    /// Throws `displaced` unless a file that another program has written into has all that was stored, and no more.
    private func verify(_ file: CollectionFile) throws(VaultError) {
        guard let keys, let state else { return }
        let report = try FileCheck.run(on: file.database, keys: CheckKeys(collection: keys, secrets: secretsKey))
        guard report.isSound, try keys.openState(file.state()) == state else { throw displaced }
    }

    private var displaced: VaultError {
        VaultError(.displaced, reason: "another program has replaced or changed \(name.fileName); nothing was stored")
    }

    private func presentFile() throws(VaultError) -> CollectionFile {
        // No reference may stay here: the old connection would keep the new one out.
        if try file?.database.isTouched() == true { return try openTouchedFile() }
        return try openedFile()
    }

    func writableFile() throws(VaultError) -> CollectionFile {
        if remains != nil, let refusal = changes.refusal { throw refusal }
        // The disk may work again by now.
        if resting != nil { file = nil }
        let file = try presentFile()
        if case .unchecked(.some) = changes { checkStructure() }
        if case .unchecked(let failure?) = changes { throw failure }
        if let refusal = changes.refusal { throw refusal }
        if let obstacle = file.obstacle { throw obstacle }
        return file
    }
}
