import KeychainModel
import Logging

extension Collection {
    /// Opens the collection's file; a failure makes the collection unreadable.
    func openFile() async {
        let logger = context.configuration.logger
        do throws(VaultError) {
            let writer = CollectionWriter(
                name,
                in: context.folder,
                configuration: context.configuration,
                indexKey: context.indexKey
            )
            let worker = try Worker(name.encoded, writer) { writer in writer.checkpoint() }
            let contents = try await worker.perform { (writer) throws(VaultError) in try writer.open() }
            header = contents.header
            table = contents.table
            properties.label = contents.header.label
            properties.created = contents.header.created
            properties.modified = contents.header.modified
            storage = .file(worker)
            if contents.tagsAreStale {
                problems = [
                    "the search index was made with another key: searches find nothing until the collection is unlocked"
                ]
                logger.warning("\(name): \(problems[0])")
            }
        } catch {
            phase = .unreadable(reason: error.reason)
            problems = [error.reason]
            logger.error(
                """
                \(name): the collection cannot be read and is left as it is: \(error.reason). Generations are in \
                \(context.folder.folder(Generations.folderName).path)
                """
            )
        }
    }

    /// Closes a file that is a copy of another collection.
    func close(asCopyOf other: CollectionName) async {
        await close()
        let reason = "it is a copy of \(other); move one of the two files out of the folder"
        phase = .unreadable(reason: reason)
        problems = [reason]
        header = nil
        table = ItemTable()
        context.configuration.logger.error("\(name): the collection is left as it is: \(reason)")
    }
}
