import Glibc
import Rights

/// Finds the terminal that a process was started on.
package struct TerminalFinder: Sendable {
    private let root: String

    /// - Parameter root: where the processes are, if not in /proc.
    package init(root: String = "/proc") {
        self.root = root
    }

    /// The terminal of a process; nil if it has none on which its user can be asked now.
    ///
    /// Only where the process is in the foreground: on a terminal it was once started on, but which another program reads from now,
    /// two programs would share what is typed. And only where the process sees the same devices as this one, which in a container
    /// it does not.
    package func terminal(of process: CallerProcess) -> CallerTerminal? {
        UserRights.perform { findTerminal(of: process) }
    }

    private func findTerminal(of process: CallerProcess) -> CallerTerminal? {
        let folder = ProcessFolder(process.id, in: root)
        guard let device = foregroundDevice(of: process), let path = device.path, device.isOwn(at: path),
            let own = ProcessFolder.status(at: "\(root)/self/ns/mnt"), let theirs = folder.status(of: "ns/mnt"),
            own.st_dev == theirs.st_dev, own.st_ino == theirs.st_ino
        else { return nil }
        let environment = TerminalEnvironment(folder.read("environ", limit: TerminalEnvironment.longest) ?? [])
        return CallerTerminal(path: path, type: environment.type, locale: environment.locale)
    }

    /// Whether a process is there still, and in the foreground of its terminal.
    package func isInForeground(_ process: CallerProcess) -> Bool {
        UserRights.perform { foregroundDevice(of: process) } != nil
    }

    private func foregroundDevice(of process: CallerProcess) -> TerminalDevice? {
        let content = ProcessFolder(process.id, in: root).read("stat", limit: ProcessStatus.longest)
        guard let status = content.flatMap(ProcessStatus.init), status.startTime == process.startTime,
            status.groupID == status.foregroundGroupID, status.terminal != 0
        else { return nil }
        return TerminalDevice(number: status.terminal)
    }
}
