/// An older state of the file, which another program has put in its place, also while no daemon ran.
extension Collection {
    /// The problem of changes that are missing.
    var problemOfMissingChanges: String? {
        missingChanges.map { missing in
            let what = missing.count == 1 ? "last change is" : "last \(missing.count) changes are"
            return """
                another program has put an older state of the file in its place, and the \(what) missing; \
                keychainctl restore lists past states
                """
        }
    }

    /// The number of the last change that the file had when it was closed; nil if it is unknown, or cannot be read.
    func recordedLastChange() async -> UInt64? {
        guard let identifier = header?.identifier else { return nil }
        let recorded = try? await context.folderWorker.perform { (folder) throws(VaultError) in
            try folder.lastChange(of: identifier)
        }
        return recorded ?? nil
    }

    /// Notices that the file, whose last change is that of `properties`, lacks changes up to the recorded one.
    func noticeMissingChanges(until last: UInt64?) {
        guard let last, properties.revision < last, last - properties.revision <= StateFile.maximumMissing else {
            return
        }
        missingChanges = properties.revision + 1...last
        // A new change gets a higher number, so that the next start finds none missing.
        properties.revision = last
    }

    /// Records the last change of the file before it is closed, unless it was never read.
    func recordLastChange(of worker: Worker<CollectionWriter>) {
        guard let identifier = header?.identifier else { return }
        worker.post { [folderWorker = context.folderWorker] writer in
            guard let number = writer.state?.revision else { return }
            folderWorker.post { folder in folder.setLastChange(number, of: identifier) }
        }
    }
}
