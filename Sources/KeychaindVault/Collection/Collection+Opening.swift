import KeychaindModel
import Logging

/// Opening the file, which a locked collection has, too.
extension Collection {
    /// Opens the collection's file; a failure makes the collection unreadable.
    ///
    /// - Parameter recorded: the file that the collection had before.
    func openFile(recorded: KnownCollection? = nil) async {
        self.recorded = recorded
        let known = await recordedSequence(of: recorded?.identifier)
        do throws(VaultError) {
            let worker = try newWorker()
            let contents = try await worker.perform { (writer) throws(VaultError) in try writer.open(known: known) }
            storage = .file(worker)
            adopt(contents)
        } catch {
            becomeUnreadable(error)
        }
    }

    /// Takes over what is readable of the file without a key, with its problems.
    private func adopt(_ contents: CollectionWriter.LockedContents) {
        header = contents.header
        table = contents.table
        properties.label = contents.header.label
        properties.created = contents.header.created
        properties.modified = contents.header.modified
        if let obstacle = contents.obstacle { disk = .readOnly(obstacle) }
        if !contents.damage.isEmpty {
            condition = .damaged
            problems += contents.damage
        }
        if let problem = contents.header.problem {
            condition = .damaged
            problems.append(problem)
        }
        if contents.tagsAreStale {
            problems.append(
                "the search index was made with another key: searches find nothing until the collection is unlocked"
            )
        }
        noticeOtherHeader()
        for problem in problems + [replacement?.problem].compactMap(\.self) {
            context.configuration.logger.warning("\(name): \(problem)")
        }
    }

    /// Makes the collection unreadable; a file that cannot be opened is left as it is.
    private func becomeUnreadable(_ error: VaultError) {
        let isThere = (try? context.folder.exists(name.fileName)) ?? true
        let reason = isThere ? error.reason : Self.reasonOfAbsence(name)
        storage = isThere ? .none : .missing
        phase = .unreadable(reason: reason)
        problems = [reason]
        if isThere, error.isTriedAgain { disk = .unread(error) }
        if isThere, error.code == .unreadable { condition = .damaged }
        context.configuration.logger.error("\(name): the collection cannot be read and is left as it is: \(reason)")
    }

    /// Closes a file that is a copy of another collection.
    func close(asCopyOf other: CollectionName) async {
        await close()
        let reason = "it is a copy of \(other); move one of the two files out of the folder"
        phase = .unreadable(reason: reason)
        problems = [reason]
        condition = .sound
        replacement = nil
        header = nil
        table = ItemTable()
        context.configuration.logger.error("\(name): the collection is left as it is: \(reason)")
    }

    func newWorker() throws(VaultError) -> Worker<CollectionWriter> {
        let writer = CollectionWriter(
            name,
            in: context.folder,
            configuration: context.configuration,
            indexKey: context.indexKey
        )
        return try Worker(name.encoded, writer, idleMilliseconds: context.configuration.idleMilliseconds) { writer in
            writer.rest()
        }
    }
}
