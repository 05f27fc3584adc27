import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

@Suite("keychainctl doctor")
struct DoctorTests {
    private func installed() async throws -> TranslatedPrograms {
        let programs = try await TranslatedPrograms()
        let folder = URL(fileURLWithPath: programs.keychainctl).deletingLastPathComponent().deletingLastPathComponent()
        let shared = folder.appendingPathComponent("share/keychaind")
        try FileManager.default.createDirectory(at: shared, withIntermediateDirectories: true)
        // What tells an installed keychainctl.
        try Data().write(to: shared.appendingPathComponent("org.freedesktop.secrets.service"))
        return programs
    }

    @Test("Where libgcrypt is in FIPS mode, keychaind does not start, and doctor and status say why")
    func fipsMode_isTold() async throws {
        let programs = try await installed()
        let bus = try await PrivateBus()
        let home = try TemporaryFolder()
        let changes = ["HOME": home.path, "LIBGCRYPT_FORCE_FIPS_MODE": "1"]
        let environment = bus.environment.merging(changes) { $1 }
        let daemon = try await Command.run(programs.keychaind, [], environment: environment)
        #expect(daemon.status == .exited(69) && daemon.errors.contains("libgcrypt is in FIPS mode"), "\(daemon.errors)")
        let told = "libgcrypt is in FIPS mode, in which keychaind does not start"
        let doctor = try await Command.run(programs.keychainctl, ["doctor"], environment: environment)
        #expect(doctor.status == .exited(2) && doctor.text.contains("! \(told)"), "\(doctor.text)\(doctor.errors)")
        let status = try await Command.run(programs.keychainctl, ["status"], environment: environment)
        #expect(status.status == .exited(8) && status.errors.contains(told), "\(status.errors)")
    }

    @Test("A program that waits for the name of keychaind, and a keychaind that does not answer, are told")
    func waitingProgram_andSilentKeychaind_areTold() async throws {
        let programs = try await installed()
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
            #expect(!beside.text.contains("older than the installed one"), "\(beside.text)")
            // As an upgrade does.
            try FileManager.default.removeItem(atPath: programs.keychaind)
            try Data().write(to: URL(fileURLWithPath: programs.keychaind))
            let upgraded = try await doctor(try await ProgramClock.environment)
            #expect(upgraded.text.contains("the program that runs is older than the installed one"), "\(upgraded.text)")
            #expect(upgraded.text.contains("systemctl --user restart keychaind.service"))
            let status = try await Command.run(programs.keychainctl, ["status"], environment: environment)
            #expect(status.text.contains("older than the installed program"), "\(status.text)\(status.errors)")
            service.daemon.child.send(SIGSTOP)
            let asleep = try await doctor()
            service.daemon.child.send(SIGCONT)
            #expect(asleep.status == .exited(2) && asleep.text.contains("! keychaind does not answer"))
        }
    }
}
