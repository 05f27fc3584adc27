import Logging

/// Closing the file while it is not needed, or for other connections.
extension CollectionWriter {
    /// Moves the journal into the file in a pause, and closes the file if many are open.
    ///
    /// A file that was opened beside another connection is closed, too: the next change finds it alone again.
    func rest() {
        checkpoint()
        if openFiles.areMany || file?.isShared == true && readers == 0 { closeForNow() }
    }

    /// Lets other connections of this process read the file until ``dismissReader()``.
    func admitReader() throws(VaultError) {
        if file?.isShared == false {
            try retryingRead { (isAgain) throws(VaultError) in
                if isAgain { file?.releaseMemory() }
                try leaveFile()
            }
        }
        readers += 1
    }

    func dismissReader() {
        readers -= 1
    }

    /// Closes the file and its journal as they are, until they are needed.
    private func leaveFile() throws(VaultError) {
        guard let file, file.obstacle == nil else { return }
        try file.database.confirm()
        let contents = try RestingFile(file)
        self.file = nil
        resting = contents.closed(presentStamp)
    }

    /// The stamp of the file; nil if it is unknown, so that the file is verified when it is opened again.
    private var presentStamp: FileStamp? { try? FileStamp(folder.file(name.fileName)) }

    /// Closes the file without a pause, so that descriptors are bounded while all collections have work.
    func restIfTooMany() {
        if openFiles.areTooMany { closeForNow() }
    }

    /// Closes the file until it is needed, if nothing would be lost; otherwise it stays open.
    private func closeForNow() {
        guard let file, file.obstacle == nil else { return }
        do throws(VaultError) {
            try file.database.confirm()
            let contents = try RestingFile(file)
            try file.finish(isSound: changes.refusal == nil && state != nil)
            self.file = nil
            resting = contents.closed(presentStamp)
        } catch {
            configuration.logger.debug("\(name): the file stays open: \(error)")
        }
    }
}
