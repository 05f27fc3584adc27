import KeychaindCommandLine
import SecretServiceClient

extension SecretClient {
    /// Items whose secrets one call reads, if they are not too large.
    private static let batch = 200

    /// Reads the secrets of items in as few calls as their size allows, and calls a closure with each once.
    ///
    /// A provider may leave items out, such as locked ones.
    ///
    /// - Parameters:
    ///   - body: is not called for items that were not asked for.
    ///   - unreadable: is called with the error of an item whose secret the provider cannot send.
    /// - Returns: the paths of the items whose secret was read.
    func readSecrets(
        of items: [SecretItem],
        _ body: (SecretItem, borrowing Secret) throws -> Void,
        unreadable: (SecretServiceError) throws -> Void
    ) async throws -> Set<String> {
        var read: Set<String> = []
        for start in stride(from: 0, to: items.count, by: Self.batch) {
            try Task.checkCancellation()
            try await readTogether(items.dropFirst(start).prefix(Self.batch), into: &read, body, unreadable)
        }
        return read
    }

    private func readTogether(
        _ items: ArraySlice<SecretItem>,
        into read: inout Set<String>,
        _ body: (SecretItem, borrowing Secret) throws -> Void,
        _ unreadable: (SecretServiceError) throws -> Void
    ) async throws {
        let before = read.count
        let wanted = Set(items.map(\.path))
        do {
            try await forEachSecret(of: Array(items)) { item, secret in
                guard wanted.contains(item.path), read.insert(item.path).inserted else { return }
                try body(item, secret)
            }
        } catch let error as SecretServiceError {
            // The secrets together may be larger than a message: none was read then.
            let isTooMuch = [.limitExceeded, .providerFailed, .invalidAnswer].contains(error.code)
            guard isTooMuch, read.count == before else { throw CommandFailure(error) }
            guard items.count > 1 else { return try unreadable(error) }
            let middle = items.startIndex + items.count / 2
            try await readTogether(items[..<middle], into: &read, body, unreadable)
            try await readTogether(items[middle...], into: &read, body, unreadable)
        }
    }
}
