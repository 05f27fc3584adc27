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
        guard case .file = storage else { return }
        let label = properties.label
        context.folderWorker.post { [name] folder in folder.remember([name: label]) }
    }
}

extension Vault {
    /// Whether the file of a missing collection is there again; then ``takeUp(_:)`` serves it.
    package func hasReturned(_ collection: Collection) -> Bool {
        collection.isMissing && collection.context.folder.contains(collection.name.fileName)
    }
}
