import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite("keychainctl doctor")
struct DoctorTests {
    @Test("A program that waits for the name of keychaind, and a keychaind that does not answer, are told")
    func waitingProgram_andSilentKeychaind_areTold() async throws {
        let programs = try await TranslatedPrograms()
        let folder = URL(fileURLWithPath: programs.keychainctl).deletingLastPathComponent().deletingLastPathComponent()
        let shared = folder.appendingPathComponent("share/keychaind")
        try FileManager.default.createDirectory(at: shared, withIntermediateDirectories: true)
        // What tells an installed keychainctl.
        try Data().write(to: shared.appendingPathComponent("org.freedesktop.secrets.service"))
        let home = try TemporaryFolder()
        try await RunningService.withService(programs.options([:])) { service in
            let environment = service.bus.environment.merging(["HOME": home.path]) { $1 }
            func doctor(_ changes: [String: String?] = [:]) async throws -> CommandResult {
                try await Command.run(
                    programs.keychainctl,
                    ["doctor"],
                    environment: environment.merging(changes) { $1 }
                )
            }
            let awake = try await doctor(try await ProgramClock.environment)
            #expect(awake.text.contains("keychaind (process "), "\(awake.text)\(awake.errors)")
            #expect(!awake.text.contains("does not answer"), "\(awake.text)")
            let other = try RawClient(service.bus.address)
            let bus = "org.freedesktop.DBus"
            let request = Message.call(to: bus, ObjectPath(unchecked: "/org/freedesktop/DBus"), bus, "RequestName")
            request.append("org.freedesktop.secrets", UInt32(0))
            _ = try other.call(request)
            let beside = try await doctor(try await ProgramClock.environment)
            #expect(beside.text.contains("(process \(getpid())) takes over when keychaind ends"), "\(beside.text)")
            other.close()
            service.daemon.child.send(SIGSTOP)
            let asleep = try await doctor()
            service.daemon.child.send(SIGCONT)
            #expect(asleep.status == .exited(2) && asleep.text.contains("! keychaind does not answer"))
        }
    }
}
