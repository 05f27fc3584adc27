import KeychaindDBus
import KeychaindTestSupport
import Testing

struct ExportTests {
    private static let path = ObjectPath(unchecked: "/test/exported")
    private static let interface = "test.Exported"

    /// An object that replies with its name, at once or later.
    @BusActor
    private final class Named {
        let name: String

        init(_ name: String) {
            self.name = name
        }

        var target: any ObjectTarget {
            ObjectKind<Named>([
                Interface(
                    ExportTests.interface,
                    methods: [
                        Method("GetName", out: [Parameter("name", String.self)]) { named, call in
                            call.reply(with: named.name)
                        },
                        Method(suspending: "WaitForName", out: [Parameter("name", String.self)]) { named, call in
                            await Task.yield()
                            call.reply(with: named.name)
                        },
                    ]
                )
            ]).target(self)
        }
    }

    /// An exporting connection and two callers.
    private func run(
        _ body: @BusActor (_ exporter: Connection, _ peer: Connection, _ stranger: Connection) async throws -> Void
    ) async throws {
        let bus = try await PrivateBus()
        try await ExportTests.run(on: bus, body)
    }

    @BusActor
    private static func run(
        on bus: PrivateBus,
        _ body: @BusActor (_ exporter: Connection, _ peer: Connection, _ stranger: Connection) async throws -> Void
    ) async throws {
        let (exporter, peer, stranger) = (try bus.connect(), try bus.connect(), try bus.connect())
        defer {
            for connection in [exporter, peer, stranger] {
                connection.close()
            }
        }
        try await body(exporter, peer, stranger)
    }

    @BusActor
    private func name(
        at path: ObjectPath = ExportTests.path,
        of exporter: Connection,
        for caller: Connection,
        by method: String = "GetName"
    ) async throws -> String {
        let call = Message.call(to: exporter.uniqueName, path, ExportTests.interface, method)
        return try await caller.call(call).read(String.self)
    }

    @Test(arguments: ["GetName", "WaitForName"])
    func call_byPeer_isAnswered(method: String) async throws {
        try await run { exporter, peer, _ in
            exporter.export(Named("exported").target, at: ExportTests.path, to: peer.uniqueName)
            let name = try await name(of: exporter, for: peer, by: method)
            #expect(name == "exported")
        }
    }

    @Test
    func call_byOtherPeer_isUnknownObject() async throws {
        try await run { exporter, peer, stranger in
            var missing: BusError?
            do { _ = try await name(of: exporter, for: stranger) } catch { missing = error as? BusError }
            exporter.export(Named("exported").target, at: ExportTests.path, to: peer.uniqueName)
            do {
                _ = try await name(of: exporter, for: stranger)
                Issue.record("a stranger was answered")
            } catch {
                #expect(error as? BusError == missing)
                #expect((error as? BusError)?.message == missing?.message)
            }
        }
    }

    @Test
    func call_pathOfServer_peerGetsExportOthersServer() async throws {
        try await run { exporter, peer, stranger in
            let served = Named("served").target
            exporter.server = ObjectServer(on: exporter, limit: 1) { _ in served }
            exporter.export(Named("exported").target, at: ExportTests.path, to: peer.uniqueName)
            let other = ObjectPath(unchecked: "/test/other")
            let names = [
                try await name(of: exporter, for: peer), try await name(of: exporter, for: stranger),
                try await name(at: other, of: exporter, for: peer),
            ]
            #expect(names == ["exported", "served", "served"])
        }
    }

    @Test
    func export_again_replaces() async throws {
        try await run { exporter, peer, _ in
            exporter.export(Named("first").target, at: ExportTests.path, to: peer.uniqueName)
            exporter.export(Named("second").target, at: ExportTests.path, to: peer.uniqueName)
            let name = try await name(of: exporter, for: peer)
            #expect(name == "second")
        }
    }

    @Test
    func call_afterWithdrawal_isUnknown() async throws {
        try await run { exporter, peer, _ in
            exporter.export(Named("exported").target, at: ExportTests.path, to: peer.uniqueName)
            exporter.withdraw(ExportTests.path)
            await #expect(throws: BusError(.unknownMethod, "")) { try await name(of: exporter, for: peer) }
        }
    }
}
