import KeychaindGcrypt

/// The marks of applications that have their derived secret, in `state`.
///
/// The name of a mark is derived from the secrets key of the collection and the application, so it names neither.
extension Collection {
    /// Records that an application has its derived secret; durable on return.
    ///
    /// Throws `locked`, and disk errors.
    package func markDerivedSecret(for application: String) async throws(VaultError) {
        let mark = try mark(for: application)
        try await context.folderWorker.perform { (folder) throws(VaultError) in try folder.setApplicationMark(mark) }
    }

    /// Whether an application may have its derived secret; throws like ``markDerivedSecret(for:)``.
    package func hasDerivedSecret(for application: String) async throws(VaultError) -> Bool {
        let mark = try mark(for: application)
        return try await context.folderWorker.perform { (folder) throws(VaultError) in
            try folder.hasApplicationMark(mark)
        }
    }

    private func mark(for application: String) throws(VaultError) -> [UInt8] {
        guard case .unlocked(let key) = phase else { throw VaultError.collectionLocked }
        return try cipher { () throws(GcryptError) in try key.applicationMark(for: application) }
    }
}

extension VaultFolder {
    fileprivate func setApplicationMark(_ mark: [UInt8]) throws(VaultError) {
        try changeState { (state) throws(VaultError) in try state.setApplicationMark(mark) }
    }

    fileprivate func hasApplicationMark(_ mark: [UInt8]) throws(VaultError) -> Bool {
        try openedState().hasApplicationMark(mark)
    }
}

extension StateFile {
    /// More applications than anybody has; past them each counts as marked.
    private static let maximumMarks = 10_000
    private static let prefix = "application "

    fileprivate func setApplicationMark(_ mark: [UInt8]) throws(VaultError) {
        guard !hasApplicationMark(mark) else { return }
        try set([Self.name(of: mark): .some([1])])
    }

    fileprivate func hasApplicationMark(_ mark: [UInt8]) -> Bool {
        value(ofRecord: Self.name(of: mark)) != nil
            || records(withPrefix: Self.prefix).count >= Self.maximumMarks
    }

    private static func name(of mark: [UInt8]) -> String {
        prefix + mark.hexadecimal()
    }
}
