import KeychaindGcrypt
import Logging

/// A foreign file in place of a collection's, even if it was put there while no daemon ran.
package enum Replacement: Equatable, Sendable {
    /// An older state, which lacks changes that the file had.
    case older(missing: ClosedRange<UInt64>)

    /// A state with changes that were made elsewhere, but not with all that were made here, up to the number.
    case diverged(last: UInt64)

    /// The file of another collection.
    case other

    var problem: String {
        let what =
            switch self {
            case .older(let missing):
                """
                an older state of the file in its place, and the \
                \(missing.count == 1 ? "last change is" : "last \(missing.count) changes are") missing
                """
            case .diverged: "a state with other changes in its place, and changes that were made here are missing"
            case .other: "another keychain in its place, which may have another password"
            }
        return "another program has put \(what); keychainctl restore lists past states"
    }
}

extension Collection {
    /// The last change that the file had when it was closed; nil if it is unknown, or cannot be read.
    func recordedLastChange() async -> RecordedChange? { await recordedLastChange(of: header?.identifier) }

    /// A sequence that the file with an identifier has had; 0 if it is unknown.
    func recordedSequence(of identifier: [UInt8]?) async -> UInt64 {
        await recordedLastChange(of: identifier)?.sequence ?? 0
    }

    private func recordedLastChange(of identifier: [UInt8]?) async -> RecordedChange? {
        guard let identifier else { return nil }
        let recorded = try? await context.folderWorker.perform { (folder) throws(VaultError) in
            try folder.lastChange(of: identifier)
        }
        return recorded ?? nil
    }

    /// Notices that the file, whose state is in `properties`, lacks changes up to the recorded one.
    func noticeMissingChanges(until last: RecordedChange) {
        let number = last.number
        if properties.revision < number, number - properties.revision <= RecordedChange.maximumMissing {
            noticeReplacement(.older(missing: properties.revision + 1...number))
            // A new change gets a higher number, so that the next start finds none missing.
            properties.revision = number
        } else if let own = last.own, own.number <= number, properties.lastChanges.lack(own) {
            noticeReplacement(.diverged(last: own.number))
        }
    }

    /// Notices a header that is not that of the file that this collection had.
    func noticeOtherHeader() {
        guard let former = recorded?.identifier, let header, header.identifier != former else { return }
        noticeReplacement(.other)
    }

    /// The first finding stays: another keychain in its place may be older than it was, too.
    private func noticeReplacement(_ found: Replacement) {
        if replacement == nil { replacement = found }
    }

    /// Takes another collection's file for this one's from the first change on: somebody uses it, and has its password.
    func acceptReplacement() {
        guard case .other = replacement, recorded?.identifier != header?.identifier else { return }
        recorded = KnownCollection(label: properties.label, identifier: header?.identifier)
        remember()
    }

    /// Records the last change of the file before it is closed, unless it was never read.
    func recordLastChange(of worker: Worker<CollectionWriter>) {
        guard let identifier = header?.identifier else { return }
        worker.post { [vaultNumber, folderWorker = context.folderWorker] writer in
            guard let (state, sequence) = writer.lastChange else { return }
            let change = RecordedChange(
                number: state.revision,
                sequence: sequence,
                own: state.lastChanges[vaultNumber]
            )
            folderWorker.post { folder in folder.setLastChange(change, of: identifier) }
        }
    }
}

extension Vault {
    /// Opens the file that another program has put in place of a collection's, such as an older or a newer state of it.
    ///
    /// It is unlocked if the keys in memory open it; a missing file is an unreadable collection, which can be restored.
    /// Returns nil if that has been done already, or was done meanwhile.
    package func takeUp(_ collection: Collection) async -> Collection? {
        await exclusiveWork.begin(.replacement(collection.name))
        defer { exclusiveWork.end(.replacement(collection.name)) }
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
        await exclusiveWork.begin(.replacement(collection.name))
        exclusiveWork.end(.replacement(collection.name))
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
