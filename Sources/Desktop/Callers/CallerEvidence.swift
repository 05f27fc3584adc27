/// What the naming of a caller rests on, and so how far to trust it.
///
/// None of it holds against a program that runs as the same user and wants to be taken for another: that one may start the other
/// program and act through it.
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

    /// The path of a program in a file system that is not the user's, such as a container's; another program may be behind it.
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
