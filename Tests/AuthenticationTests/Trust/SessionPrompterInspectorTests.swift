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
    func owner_thisProcess_isNotTrusted() async throws {
        let bus = try await PrivateBus()
        let fake = try FakePrompter(on: bus, [])
        let connection = try bus.connect()
        defer {
            fake.crash()
            connection.close()
        }
        let inspector = SessionPrompterInspector(connection: connection, patience: Patience.limit, logger: .silent)
        let prompter = GCRPrompter(
            connection: connection,
            inspector: inspector,
            logger: .silent,
            callTimeout: Patience.limit
        )
        let dialog = try await prompter.open()
        defer { dialog.close() }
        let objection = await dialog.trust().objection
        #expect(objection != nil)
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
            patience: Patience.limit,
            logger: Logger(recordingTo: lines)
        )
        for _ in 0..<2 {
            let trust = await inspector.trust(in: .owner(uniqueName: ":1.999", busName: GCRPrompter.busName))
            #expect(trust == .passwordsOnly(reason: "the bus does not report its process"))
        }
        #expect(lines.all.count == 1, "the same reason is logged once")
    }
}
