import KeychaindDBus
import KeychaindTestSupport

/// An item as `org.keychaind.Search1` returns it.
struct FoundRow: BusValue, Equatable, Sendable {
    let path: ObjectPath
    let query: UInt32
    let isLocked: Bool
    let attributes: [String: String]
    let label: String
    /// In microseconds.
    let created, modified: UInt64

    static var signature: String { "(ouba{ss}stt)" }

    init(from reader: inout Reader) throws(BusError) {
        self = try reader.readStructure { (reader) throws(BusError) in
            FoundRow(
                path: try ObjectPath(from: &reader),
                query: try UInt32(from: &reader),
                isLocked: try Bool(from: &reader),
                attributes: try [String: String](from: &reader),
                label: try String(from: &reader),
                created: try UInt64(from: &reader),
                modified: try UInt64(from: &reader)
            )
        }
    }

    private init(
        path: ObjectPath,
        query: UInt32,
        isLocked: Bool,
        attributes: [String: String],
        label: String,
        created: UInt64,
        modified: UInt64
    ) {
        self.path = path
        self.query = query
        self.isLocked = isLocked
        self.attributes = attributes
        self.label = label
        self.created = created
        self.modified = modified
    }

    /// Not sent by a client.
    func write(to writer: inout Writer) {
        path.write(to: &writer)
    }
}

/// A reply of `org.keychaind.Search1`.
struct FoundReply: Sendable {
    let rows: [FoundRow]
    let secrets: [ObjectPath: WireSecret]

    var paths: [ObjectPath] { rows.map(\.path) }

    /// The secrets of a plain session, as text.
    var texts: [ObjectPath: String] { secrets.mapValues { String(decoding: $0.value, as: UTF8.self) } }

    fileprivate init(_ reply: Message) throws(BusError) {
        (rows, secrets) = try reply.read([FoundRow].self, [ObjectPath: WireSecret].self)
    }
}

extension SecretServiceProxy {
    /// - Parameter session: the root path for no secrets.
    func find(
        _ queries: [[String: String]],
        session: ObjectPath = .root,
        limit: UInt32 = 0
    ) async throws(BusError) -> FoundReply {
        try FoundReply(try await call(Self.service, "org.keychaind.Search1", "Search", queries, session, limit))
    }

    func get(_ items: [ObjectPath], session: ObjectPath = .root) async throws(BusError) -> FoundReply {
        try FoundReply(try await call(Self.service, "org.keychaind.Search1", "Get", items, session))
    }
}
