import KeychaindModel

extension Collection {
    /// Whether the file that the collection had is gone; nothing takes its place until a person restores or deletes it.
    package var isMissing: Bool {
        if case .missing = storage { true } else { false }
    }

    static func reasonOfAbsence(_ name: CollectionName) -> String {
        """
        its file \(name.fileName) is missing: put it back, restore a past state with “keychainctl restore”, or delete \
        the keychain to begin anew
        """
    }

    /// Records that the collection has a file.
    func remember() {
        guard let known else { return }
        context.folderWorker.post { [name] folder in folder.remember([name: known]) }
    }

    /// The record of the collection; nil if it has no file.
    var known: KnownCollection? {
        switch (storage, phase) {
        case (.file, _): former
        case (.none, .unreadable): KnownCollection()
        default: nil
        }
    }

    /// The record of the file that the collection had; another one in its place does not count.
    package var former: KnownCollection {
        let present = KnownCollection(label: properties.label, identifier: header?.identifier)
        guard case .other = replacement, let recorded else { return present.merged(with: recorded) }
        return recorded.merged(with: present)
    }
}

extension Vault {
    /// Whether the file of a missing collection is there again; then ``takeUp(_:)`` serves it.
    package func hasReturned(_ collection: Collection) -> Bool {
        guard collection.isMissing else { return false }
        // Runs on the event loop, so it does not repeat a failed look; the next Unlock looks again.
        return ((try? Look.once(at: collection.context.folder.file(collection.name.fileName))) ?? nil) != nil
    }
}
