import Foundation
import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport
import Logging
import Testing

/// The inspector with a real bus.
@Suite(.lockedPool, .onLoop)
struct SessionPrompterInspectorTests {
    @Test
    @BusActor
    func owner_isTheCompositor_isTrusted() async throws {
        let bus = try await PrivateBus()
        let fake = try FakePrompter(on: bus, [])
        let connection = try bus.connect()
        defer {
            fake.crash()
            connection.close()
        }
        let screen = try await FakeScreen()
        let inspector = SessionPrompterInspector(
            connection: connection,
            screens: screen.screens,
            patience: Patience.limit,
            logger: .silent
        )
        let prompter = GCRPrompter(
            connection: connection,
            inspector: inspector,
            logger: .silent,
            callTimeout: Patience.limit
        )
        let dialog = try await prompter.open()
        defer { dialog.close() }
        #expect(await dialog.trust() == .trusted)
        #expect(await prompter.expectedTrust(for: TestRequester(":1.1")) == .trusted)
        // Another session is in front of the screen; then an X server has it, which no prompter is.
        for session in [["ACTIVE": "0"], ["TYPE": "x11", "ORIGINAL_TYPE": "x11"]] {
            try screen.writeSession(session)
            #expect(await dialog.trust() == .passwordsOnly(reason: "it does not draw the screen of a session"))
        }
        // Without an inspector, the answer counts.
        let other = try await GCRPrompter(connection: connection, logger: .silent, callTimeout: Patience.limit).open()
        #expect(await other.trust() == .trusted)
        other.close()
    }

    @Test
    @BusActor
    func owner_hasLeft_isNotTrusted() async throws {
        let bus = try await PrivateBus()
        let connection = try bus.connect()
        defer { connection.close() }
        let lines = Recorder<LogRecorder.Line>()
        let inspector = SessionPrompterInspector(
            connection: connection,
            screens: try await FakeScreen().screens,
            patience: Patience.limit,
            logger: Logger(recordingTo: lines)
        )
        for _ in 0..<2 {
            let trust = await inspector.trust(inOwner: ":1.999", of: GCRPrompter.busName)
            #expect(trust == .passwordsOnly(reason: "the bus does not report its process"))
        }
        #expect(lines.all.count == 1, "the same reason is logged once")
    }
}
