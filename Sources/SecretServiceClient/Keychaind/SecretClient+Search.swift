import KeychaindDBus

/// An item with its properties, as `org.keychaind.Search1` returns it.
package struct SecretItemRecord: Sendable {
    package let item: SecretItem
    package let properties: SecretItem.Properties
    /// The number of the first query that finds it.
    package let query: Int
    /// The times in microseconds since 1970.
    package let created: UInt64
    package let modified: UInt64
    /// Nil unless it was requested and the item is unlocked; a copy, which is not overwritten.
    package var secret: [UInt8]?

    private init(
        item: SecretItem,
        properties: SecretItem.Properties,
        query: Int,
        created: UInt64,
        modified: UInt64
    ) {
        self.item = item
        self.properties = properties
        self.query = query
        self.created = created
        self.modified = modified
    }

    /// Creates a record of properties, whose times are whole seconds.
    package init(_ item: SecretItem, _ properties: SecretItem.Properties, query: Int = 0) {
        self.init(
            item: item,
            properties: properties,
            query: query,
            created: SecretItemRecord.microseconds(properties.created),
            modified: SecretItemRecord.microseconds(properties.modified)
        )
    }

    /// Reads a record of `org.keychaind.Search1`.
    fileprivate init(from reader: inout Reader, _ client: SecretClient) throws(BusError) {
        let item = SecretItem(client, try ObjectPath(from: &reader))
        let query = Int(try UInt32(from: &reader))
        let isLocked = try Bool(from: &reader)
        let attributes = try [String: String](from: &reader)
        let label = try String(from: &reader)
        let created = try UInt64(from: &reader)
        let modified = try UInt64(from: &reader)
        let properties = SecretItem.Properties(
            label: label,
            attributes: attributes,
            isLocked: isLocked,
            created: created / 1_000_000,
            modified: modified / 1_000_000
        )
        self.init(item: item, properties: properties, query: query, created: created, modified: modified)
    }

    private static func microseconds(_ seconds: UInt64) -> UInt64 {
        let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return isTooLarge ? .max : product
    }
}

/// `org.keychaind.Search1`, an interface of keychaind alone.
extension SecretClient {
    /// Searches, and reads what is found, in one call.
    ///
    /// Items found by the first query come first, and among these the oldest. Returns nil if the provider does not
    /// support this.
    ///
    /// - Parameters:
    ///   - queries: each the attributes of the items to find; at most eight.
    ///   - limit: the maximum number of items; nil for all.
    ///   - withSecrets: whether to read the secrets of unlocked items.
    package func searchAndRead(
        _ queries: [[String: String]],
        limit: Int?,
        withSecrets: Bool
    ) async throws(SecretServiceError) -> [SecretItemRecord]? {
        for query in queries { try ArgumentCheck.check("", query) }
        return try await records(withSecrets: withSecrets) { session in
            ProviderInterface.search.call("Search", queries, session, UInt32(clamping: limit ?? 0))
        }
    }

    /// Reads items in one call, oldest first; leaves out those that do not exist.
    ///
    /// Returns nil if the provider does not support this.
    package func read(
        _ items: [SecretItem],
        withSecrets: Bool
    ) async throws(SecretServiceError) -> [SecretItemRecord]? {
        let paths = items.map(\.objectPath)
        return try await records(withSecrets: withSecrets) { session in
            ProviderInterface.search.call("Get", paths, session)
        }
    }

    /// The collection of an alias for a new item; nil if the alias is not set.
    ///
    /// Saves the call for providers that are known to be keychaind: its paths of aliases are collections themselves,
    /// and `default` and `login` are always set.
    package func storingCollection(alias: String) async throws(SecretServiceError) -> SecretCollection? {
        let isKeychaind = try await onLink { (link) throws(SecretServiceError) in
            let owner = try await link.provider()
            return link.searchSupport.map { $0 == (owner, true) } ?? false
        }
        guard isKeychaind, ["default", "login"].contains(alias) else { return try await collection(alias: alias) }
        return try collection(at: Protocol.serviceObject.rawValue + "/aliases/" + alias)
    }

    private func records(
        withSecrets: Bool,
        _ makeCall: @escaping @Sendable (ObjectPath) -> Message
    ) async throws(SecretServiceError) -> [SecretItemRecord]? {
        let answer = try await onLink(
            { (link) throws(SecretServiceError) in try await link.search(withSecrets: withSecrets, makeCall) },
            abandon: { answer in if answer?.session != nil { answer?.reply.wipeByteArrays() } }
        )
        guard let (reply, session) = answer else { return nil }
        defer { if session != nil { reply.wipeByteArrays() } }
        return try readRecords(reply, session)
    }

    private func readRecords(
        _ reply: Message,
        _ session: ProviderSession?
    ) throws(SecretServiceError) -> [SecretItemRecord] {
        var failure: SecretServiceError?
        do throws(BusError) {
            var reader = reply.makeReader()
            var records = try reader.readStructures { (reader) throws(BusError) in
                try SecretItemRecord(from: &reader, self)
            }
            guard let session else { return records }
            var index = 0
            try reader.readDictionary { (reader) throws(BusError) in
                let path = try ObjectPath(from: &reader).rawValue
                // In the order of the records, some of which have none.
                while index < records.count, records[index].item.path != path { index += 1 }
                guard index < records.count else { throw BusError(.failed, "a secret of no item") }
                do throws(SecretServiceError) {
                    records[index].secret = try session.read(&reader).bytes
                } catch {
                    failure = error
                    throw BusError(.failed, "")
                }
            }
            return records
        } catch {
            throw failure ?? SecretServiceError(reading: error)
        }
    }
}

extension ProviderLink {
    /// Calls `org.keychaind.Search1`; nil if the provider does not have it, which is remembered while it runs.
    ///
    /// - Parameter makeCall: makes the message for the path of the session, or the root path for none.
    fileprivate func search(
        withSecrets: Bool,
        _ makeCall: (ObjectPath) -> Message
    ) async throws(SecretServiceError) -> (reply: Message, session: ProviderSession?)? {
        var mayRenewSession = true
        while true {
            let owner = try await provider()
            if let searchSupport, searchSupport.owner == owner, !searchSupport.isSupported { return nil }
            let session = withSecrets ? try await openSession() : nil
            do throws(SecretServiceError) {
                let reply = try await call(makeCall(session?.path ?? .root), to: session?.owner ?? owner)
                searchSupport = (session?.owner ?? owner, true)
                return (reply, session)
            } catch {
                if error.isOfMissingMethod {
                    searchSupport = (owner, false)
                    return nil
                }
                guard error.code == .noSession, mayRenewSession, let session else { throw error }
                mayRenewSession = false
                forget(session)
            }
        }
    }
}
