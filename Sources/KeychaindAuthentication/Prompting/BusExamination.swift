import Glibc
import KeychaindDesktop
import KeychaindRights

/// Examines the process of the session bus, which passes on all that a prompter says.
///
/// Blocks, as a process can delay reads of its /proc files.
package struct BusExamination: Sendable {
    package init() {}

    /// Whether the process is a bus of the system's that runs only the system's code.
    ///
    /// One that a program of the user has started is good enough: it tells the truth about its connections.
    package func trust(inBus id: Int32) -> PrompterTrust {
        do throws(Objection) {
            // The kernel shows a process's files only to its user and group.
            try UserRights.perform { () throws(Objection) in try examine(id) }
            return .trusted
        } catch {
            return .passwordsOnly(reason: "the session bus is not trusted: \(error.reason)")
        }
    }

    private struct Objection: Error {
        let reason: String

        init(_ reason: String) {
            self.reason = reason
        }
    }

    /// Checks the process, and that it stayed the same.
    private func examine(_ id: Int32) throws(Objection) {
        let folder = ProcessFolder(id, in: "/proc")
        guard let status = folder.processStatus else { throw Objection("process \(id) has ended or cannot be seen") }
        guard "RSDI".contains(status.state) else { throw Objection("it is stopped") }
        guard let tracer = ProcessCredentials(folder)?.tracerID else { throw Objection("it cannot be seen") }
        guard tracer == 0 else { throw Objection("process \(tracer) traces it") }
        guard let own = ProcessFolder("self", in: "/proc").link("ns/user"), folder.link("ns/user") == own else {
            throw Objection("it is in a user namespace of its own, or cannot be seen")
        }
        guard let program = ProgramFile(of: folder) else { throw Objection("its program cannot be seen") }
        guard program.place == .present, program.isProtected else { throw Objection("\(program) is no system program") }
        guard BusExamination.programs.contains(program.name) else { throw Objection("\(program) is no known bus") }
        guard let code = folder.read("maps", limit: MappedCode.longest).flatMap(MappedCode.init) else {
            throw Objection("its code cannot be seen")
        }
        if let objection = code.objection { throw Objection(objection) }
        guard folder.processStatus?.startTime == status.startTime else { throw Objection("process \(id) has ended") }
    }

    private static let programs: Set<String> = ["dbus-broker", "dbus-daemon"]
}
