package import KeychaindDBus

/// A past state of a keychain that keychaind can restore.
package struct KeychainCopy: Hashable, Sendable {
    package let id: String
    /// The label of the keychain.
    package let keychain: String
    /// The last change that it has, in seconds since 1970.
    package let modified: UInt64
    package let itemCount: UInt64

    package var isBackup: Bool { id.hasPrefix("backup:") }

    fileprivate init(from reader: inout Reader) throws(BusError) {
        id = try String(from: &reader)
        keychain = try String(from: &reader)
        modified = try UInt64(from: &reader)
        itemCount = try UInt64(from: &reader)
    }
}

/// An item that differs between a past state and the present keychain.
package struct KeychainDifference: Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
        case added = 1
        case changed = 2
        case removed = 3
    }

    package let kind: Kind
    /// The number of the item in its keychain.
    package let item: UInt64
    package let label: String
    package let isProtected: Bool

    fileprivate init(from reader: inout Reader) throws(BusError) {
        guard let kind = Kind(rawValue: try UInt8(from: &reader)) else {
            throw BusError(.invalidArguments, "a difference of an unknown kind")
        }
        self.kind = kind
        item = try UInt64(from: &reader)
        label = try String(from: &reader)
        isProtected = try Bool(from: &reader)
    }
}

/// The result of a check of a keychain's file.
package struct KeychainCheck: Hashable, Sendable {
    package enum Depth: UInt8, Sendable {
        /// Its structure.
        case structure = 0
        /// Also the seals of labels and attributes.
        case metadata = 1
        /// Also the seals of the secrets.
        case everything = 2
    }

    package let file: String
    package let itemCount: UInt64
    package let intactCount: UInt64
    package let depth: Depth
    /// What is wrong; empty for a sound file.
    package let findings: [String]
}

extension SecretClient {
    /// The unique bus name of the provider, which another provider or a restarted one does not have.
    package func providerName() async throws(SecretServiceError) -> String {
        try await onLink { (link) throws(SecretServiceError) in try await link.provider() }
    }
}

/// `org.keychaind.Backups1`, an interface of keychaind alone.
extension SecretClient {
    /// The time that a person has for a password.
    private static let patience = Duration.seconds(600)

    /// The past generations and backups, oldest first.
    package func keychainCopies() async throws(SecretServiceError) -> [KeychainCopy] {
        try await copies("List")
    }

    /// Backs up all keychains, and returns the backups.
    package func backUpKeychains() async throws(SecretServiceError) -> [KeychainCopy] {
        try await copies("BackUp")
    }

    /// Puts a copy in the place of its keychain; a person is asked for its password.
    package func restore(copy id: String) async throws(SecretServiceError) {
        try ArgumentCheck.check(id)
        _ = try await callWithPrompt(ProviderInterface.backups.call("RestoreCopy", id))
    }

    /// Puts a keychain's file in the place of its keychain; a person is asked for its password.
    package func restore(file: FileDescriptor) async throws(SecretServiceError) {
        _ = try await callWithPrompt(ProviderInterface.backups.call("Restore", file))
    }

    /// The differences of a copy to the present keychain; a person is asked for its password.
    package func differences(from id: String) async throws(SecretServiceError) -> [KeychainDifference] {
        try ArgumentCheck.check(id)
        let reply = try await patientCall(ProviderInterface.backups.call("Compare", id))
        return try reply.readingStructures { (reader) throws(BusError) in try KeychainDifference(from: &reader) }
    }

    /// Puts items with these labels back; a person is asked for the password of the copy.
    ///
    /// - Returns: the number of items, and the labels of those that were refused.
    package func restore(
        items labels: [String],
        from id: String
    ) async throws(SecretServiceError) -> (restored: UInt32, refused: [String]) {
        try ArgumentCheck.check(labels + [id])
        return try await patientCall(ProviderInterface.backups.call("RestoreItems", id, labels)).reading(
            UInt32.self,
            [String].self
        )
    }

    /// The identifiers of the files that ``check(file:)`` takes.
    package func checkableFiles() async throws(SecretServiceError) -> [String] {
        try await patientCall(ProviderInterface.backups.call("Files")).reading([String].self)
    }

    /// Checks the file of a keychain, a generation or a backup.
    package func check(file: String) async throws(SecretServiceError) -> KeychainCheck {
        try ArgumentCheck.check(file)
        let (items, intact, depth, findings) = try await patientCall(ProviderInterface.backups.call("Check", file))
            .reading(
                UInt64.self,
                UInt64.self,
                UInt8.self,
                [String].self
            )
        return KeychainCheck(
            file: file,
            itemCount: items,
            intactCount: intact,
            depth: KeychainCheck.Depth(rawValue: depth) ?? .structure,
            findings: findings
        )
    }

    /// Takes the intact items of a damaged keychain into a new file; a person is asked.
    package func salvage(_ file: String) async throws(SecretServiceError) {
        try ArgumentCheck.check(file)
        _ = try await callWithPrompt(ProviderInterface.backups.call("Salvage", file))
    }

    private func copies(_ member: String) async throws(SecretServiceError) -> [KeychainCopy] {
        let reply = try await patientCall(ProviderInterface.backups.call(member))
        return try reply.readingStructures { (reader) throws(BusError) in try KeychainCopy(from: &reader) }
    }

    private func patientCall(_ message: Message) async throws(SecretServiceError) -> Message {
        try await onLink { (link) throws(SecretServiceError) in
            try await link.call(message, timeout: Self.patience)
        }
    }
}
