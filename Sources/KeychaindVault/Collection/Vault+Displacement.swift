import Logging

extension Vault {
    /// Opens the file that another program has put in place of a collection's, such as an older or a newer state of it.
    ///
    /// It is unlocked if the keys in memory open it; a missing file is an unreadable collection, which can be restored.
    /// Returns nil if that has been done already, or was done meanwhile.
    package func takeUp(_ collection: Collection) async -> Collection? {
        await replacements.lock(collection.name)
        defer { replacements.unlock(collection.name) }
        guard let context, self.collection(named: collection.name) === collection, !collection.hasEnded else {
            return nil
        }
        let keys = collection.handover
        let what = collection.isMissing ? "its file is there again" : "another program has replaced or removed the file"
        context.configuration.logger.error("\(collection.name): \(what)")
        await collection.retire()
        let new = await Self.collection(collection.name, known: collection.former, in: context)
        await closeIfCopy(new, inPlaceOf: collection)
        replace(collection, by: new)
        guard let keys else { return new }
        do throws(VaultError) {
            _ = try await new.unlock(with: keys)
        } catch {
            context.configuration.logger.warning("\(new.name): the present keys do not open its new file: \(error)")
        }
        return new
    }

    /// Waits for a replacement of a collection that is under way; its disk may never answer.
    package func waitForReplacement(of collection: Collection) async {
        await replacements.lock(collection.name)
        replacements.unlock(collection.name)
    }

    /// Returns the collection that is now in place of one whose file was replaced or restored, else that one itself.
    ///
    /// A vacant one is in place of none: a password that a person gives for another would become its first.
    package func successor(of collection: Collection) -> Collection {
        guard collection.isRetired, let present = self.collection(named: collection.name), present.state != .vacant
        else { return collection }
        return present
    }

    /// Closes a file that is a copy of another open collection's.
    func closeIfCopy(_ new: Collection, inPlaceOf collection: Collection) async {
        guard let identifier = new.header?.identifier else { return }
        let original = collections.first { other in
            other !== collection && !other.hasEnded && other.header?.identifier == identifier
        }
        if let original { await new.close(asCopyOf: original.name) }
    }
}
