import Foundation
import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindTestSupport

/// A fake /proc with one process.
struct ProcessFixture {
    static let id: Int32 = 4711

    /// Executable memory of the kernel only.
    static let maps = "7ffc0000-7ffc1000 r-xp 00000000 00:00 0                          [vdso]\n"

    /// In the PID namespace of the test.
    static let status = "Name:\tname\nUid:\t\(getuid())\t0\t0\t0\nTracerPid:\t0\nNSpid:\t4711\n"

    let folder: TemporaryFolder
    var credentials = ConnectionCredentials()

    /// - Parameters:
    ///   - program: the target of the program link.
    ///   - files: further files of the process.
    init(
        stat: String? = "4711 (name) S 1 4711 4711 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 98765 1 1",
        program: String? = nil,
        files: [String: String] = [:]
    ) throws {
        folder = try TemporaryFolder()
        credentials.processID = UInt32(ProcessFixture.id)
        _ = try folder.makeFolder("4711/root")
        if let stat { try folder.write(stat, to: "4711/stat") }
        if let program {
            try FileManager.default.createSymbolicLink(atPath: folder.path("4711/exe"), withDestinationPath: program)
        }
        let files = ["maps": ProcessFixture.maps, "status": ProcessFixture.status].merging(files) { $1 }
        for (name, content) in files {
            try folder.write(content, to: "4711/\(name)")
        }
    }

    var inspector: ProcessInspector { ProcessInspector(root: folder.path, confinements: confinements) }

    /// Whether the files of sandboxes are on read-only mounts.
    var isReadOnly = true

    var confinements: ConfinementFinder {
        ConfinementFinder(root: folder.path, instances: folder.path("instances")) { [isReadOnly] _ in isReadOnly }
    }

    var insight: Caller.Insight { inspector.insight(into: credentials) }

    var caller: Caller { Caller(uniqueName: ":1.1", insight: insight) }
}

extension Caller {
    /// The reason why it is opaque.
    var reason: String? {
        if case .opaque(let reason) = insight { reason.english } else { nil }
    }
}

extension ProcessInspector {
    /// What an inspection finds; opaque if the system is short of what that takes.
    func insight(into credentials: ConnectionCredentials) -> Caller.Insight {
        do throws(ExaminationObstacle) {
            return try inspect(credentials)
        } catch {
            return .opaque(reason: Text(verbatim: "\(error)"))
        }
    }
}
