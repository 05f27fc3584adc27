/// The identity of a caller, and the evidence for it.
package struct Caller: Hashable, Sendable {
    /// What the inspection of the process has shown.
    package enum Insight: Hashable, Sendable {
        case process(CallerProcess)
        /// An application behind the desktop portal, with the id that the portal gives; may be empty.
        case portal(application: String)
        /// The process cannot be inspected; the reason is for a person.
        case opaque(reason: String)
    }

    /// The unique name of the connection, such as `:1.42`.
    package let uniqueName: String

    /// The user, if the bus knows it.
    package let userID: UInt32?

    /// The result of the inspection.
    package let insight: Insight

    /// Creates a caller.
    package init(uniqueName: String, userID: UInt32? = nil, insight: Insight) {
        self.uniqueName = uniqueName
        self.userID = userID
        self.insight = insight
    }

    /// A caller that cannot be inspected.
    package static func opaque(_ uniqueName: String, userID: UInt32? = nil, reason: String) -> Caller {
        Caller(uniqueName: uniqueName, userID: userID, insight: .opaque(reason: reason))
    }

    /// The process, if it could be inspected.
    package var process: CallerProcess? {
        if case .process(let process) = insight { process } else { nil }
    }

    /// The evidence for the identity.
    package var evidence: CallerEvidence {
        switch insight {
        case .process(let process): process.evidence
        case .portal: .desktopPortal
        case .opaque: .nothing
        }
    }

    /// An identifier of the application, for values that differ between applications; nil if the application is
    /// unknown.
    ///
    /// Neither secret nor proof: see ``evidence``.
    package var applicationIdentity: String? {
        process?.applicationIdentity
    }
}

extension Caller: CustomStringConvertible {
    /// The caller in words for a prompt, such as `“/usr/bin/secret-tool” (process 1234)`: on one line, cleaned and cut.
    package var description: String {
        switch insight {
        case .process(let process): process.description
        case .portal(""): "an application without a name"
        case .portal(let application): "the application “\(PromptText.name(application))”"
        case .opaque(let reason): "an unknown program (\(reason))"
        }
    }
}

/// The evidence for the identity of a caller.
///
/// No evidence holds against a program of the same user that starts another program and acts through it.
package enum CallerEvidence: String, Hashable, Sendable, CaseIterable {
    /// The security label that the kernel enforces and the bus passes on, as for a Snap.
    case securityLabel = "security-label"

    /// The file that Flatpak puts into each sandbox.
    case sandboxFile = "sandbox-file"

    /// The word of the desktop portal, which has asked in the application's place.
    case desktopPortal = "desktop-portal"

    /// The name of the control group that snapd has put the process into.
    case controlGroup = "control-group"

    /// The program file, which only root can change, as all files that the process has loaded code from.
    case systemProgram = "system-program"

    /// The program file; the user's programs can change it, or a file that the process has loaded code from.
    case ownProgram = "own-program"

    /// The program file of an interpreter; which script it runs is the process's own word.
    case interpreter = "interpreter"

    /// The path of a program in a file system that is not the user's, such as a container's; another program may be
    /// behind it.
    case foreignProgram = "foreign-program"

    /// The systemd unit that the process is in; the user's programs can make any.
    case unit = "unit"

    /// The name that the process gives itself.
    case commandName = "command-name"

    /// There is none.
    case nothing = "nothing"

    /// The evidence in a prompt's words, to stand after "identified by".
    package var explanation: String {
        switch self {
        case .securityLabel: "the security label that the system enforces"
        case .sandboxFile: "Flatpak's file in its sandbox"
        case .desktopPortal: "the desktop portal, which has passed this on"
        case .controlGroup: "the control group that it runs in"
        case .systemProgram: "its program file, which only an administrator can change"
        case .ownProgram: "its program file; your programs can change it, or code that it has loaded"
        case .interpreter: "the interpreter; which script it runs is only its own claim"
        case .foreignProgram: "a path in a file system of its own, where any program may be"
        case .unit: "the systemd unit that it runs in, which your programs can name as they like"
        case .commandName: "the name that it gives itself"
        case .nothing: "nothing that could be checked"
        }
    }
}
