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
    /// Only where the process is in the foreground: on a terminal it was once started on, but which another program
    /// reads from now, two programs would share what is typed. And only where the process sees the same devices as this
    /// one, which in a container it does not.
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

/// The terminal of a caller, on which it can be asked.
package struct CallerTerminal: Hashable, Sendable {
    /// The path of its device.
    package let path: String
    /// What kind of terminal it is, as `TERM` has it.
    package let type: String
    /// What the caller's environment says about the language: `LC_ALL`, `LC_CTYPE`, `LC_MESSAGES` and `LANG`.
    package let locale: [String: String]
}

/// The number of a terminal's device, as `/proc/PID/stat` has it (proc_pid_stat(5)).
package struct TerminalDevice: Hashable {
    /// The number: the minor in bits 31 to 20 and 7 to 0, the major in between.
    package let number: UInt32

    /// Takes a number.
    package init(number: UInt32) {
        self.number = number
    }

    private var major: UInt32 { number >> 8 & 0xFFF }
    private var minor: UInt32 { number & 0xFF | number >> 12 & 0xFFF00 }

    /// The path that such a device has by convention (the kernel's devices.txt); nil if it is of no kind on which
    /// people type.
    package var path: String? {
        switch major {
        // Terminal windows and ssh; eight majors, of which devpts uses the first.
        case 136...143: "/dev/pts/\((major - 136) << 8 | minor)"
        // The console; above are serial lines.
        case 4 where minor < 64: "/dev/tty\(minor)"
        case 4: "/dev/ttyS\(minor - 64)"
        default: nil
        }
    }

    /// Whether a path is this device, and it is this user's to read and write.
    func isOwn(at path: String) -> Bool {
        var status = stat()
        // No link: what it leads to could change.
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFCHR, status.st_uid == geteuid() else {
            return false
        }
        // The C library has it in the same form.
        return status.st_rdev == dev_t(number) && access(path, R_OK | W_OK) == 0
    }
}

/// What a process's environment says about its terminal and its language: as it was when the process started, and as it
/// likes.
package struct TerminalEnvironment: Equatable {
    /// How much of an environment is read, in bytes.
    static let longest = 128 << 10

    private static let localeNames: Set<Substring> = ["LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LANG"]
    private static let valueLimit = 64

    /// The kind of terminal; one that every terminal understands if nothing usable is said.
    package private(set) var type = "vt100"
    /// The variables that tell the language.
    package private(set) var locale: [String: String] = [:]

    /// Reads the content of `/proc/PID/environ`: variables that each end with a zero.
    ///
    /// Values go to a program that looks files up by them, so they are taken only if they look like names.
    package init(_ content: [UInt8]) {
        for bytes in content.split(separator: 0) {
            let line = String(decoding: bytes, as: UTF8.self)
            guard let separator = line.firstIndex(of: "=") else { continue }
            let name = line[..<separator]
            let value = line[line.index(after: separator)...]
            guard TerminalEnvironment.isName(value) else { continue }
            if name == "TERM" {
                type = String(value)
            } else if TerminalEnvironment.localeNames.contains(name) {
                locale[String(name)] = String(value)
            }
        }
    }

    private static func isName(_ value: Substring) -> Bool {
        guard let first = value.utf8.first, value.utf8.count <= valueLimit, isLetterOrDigit(first) else { return false }
        return value.utf8.allSatisfy { isLetterOrDigit($0) || "+-._@".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
