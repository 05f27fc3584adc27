import Glibc
import KeychaindRights

/// Finds the terminal on which the user of a process can be asked.
package struct TerminalFinder: Sendable {
    private let root: String

    /// - Parameter root: the process folder instead of /proc.
    package init(root: String = "/proc") {
        self.root = root
    }

    /// Returns the terminal of a process; nil if its user cannot be asked there.
    ///
    /// The process must be in the foreground, or another program would read the same input. It must also see the same
    /// devices as this process, unlike in a container.
    package func terminal(of process: CallerProcess) -> CallerTerminal? {
        UserRights.perform { findTerminal(of: process) }
    }

    private func findTerminal(of process: CallerProcess) -> CallerTerminal? {
        let folder = ProcessFolder(process.id, in: root)
        guard let device = foregroundDevice(of: process), let path = device.path, device.isOwn(at: path),
            let own = ProcessFolder.status(at: "\(root)/self/ns/mnt"), let theirs = folder.status(of: "ns/mnt"),
            own.st_dev == theirs.st_dev, own.st_ino == theirs.st_ino
        else { return nil }
        let environment = folder.readEnvironment { content in TerminalEnvironment(content) } ?? TerminalEnvironment([])
        return CallerTerminal(path: path, type: environment.type, locale: environment.locale)
    }

    /// Whether a process still runs in the foreground of its terminal.
    package func isInForeground(_ process: CallerProcess) -> Bool {
        UserRights.perform { foregroundDevice(of: process) } != nil
    }

    private func foregroundDevice(of process: CallerProcess) -> TerminalDevice? {
        guard let status = ProcessFolder(process.id, in: root).processStatus, status.startTime == process.startTime,
            status.groupID == status.foregroundGroupID, status.terminal != 0
        else { return nil }
        return TerminalDevice(number: status.terminal)
    }
}

/// The terminal on which a caller can be asked.
package struct CallerTerminal: Hashable, Sendable {
    package let path: String
    /// The value of `TERM`.
    package let type: String
    /// The caller's `LC_ALL`, `LC_CTYPE`, `LC_MESSAGES` and `LANG`.
    package let locale: [String: String]
}

/// A terminal's device number, as in `/proc/PID/stat` (proc_pid_stat(5)).
package struct TerminalDevice: Hashable {
    /// The minor in bits 31 to 20 and 7 to 0, the major in between.
    package let number: UInt32

    package init(number: UInt32) {
        self.number = number
    }

    private var major: UInt32 { number >> 8 & 0xFFF }
    private var minor: UInt32 { number & 0xFF | number >> 12 & 0xFFF00 }

    /// The conventional path of the device (the kernel's devices.txt); nil if people do not type on it.
    package var path: String? {
        switch major {
        // Terminal windows and ssh; devpts uses the first of eight majors.
        case 136...143: "/dev/pts/\((major - 136) << 8 | minor)"
        // The console; higher minors are serial lines.
        case 4 where minor < 64: "/dev/tty\(minor)"
        case 4: "/dev/ttyS\(minor - 64)"
        default: nil
        }
    }

    /// Whether a path is this device, and the user owns it and can read and write it.
    func isOwn(at path: String) -> Bool {
        var status = stat()
        // No link, as its target could change.
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFCHR, status.st_uid == geteuid() else {
            return false
        }
        // The C library uses the same form.
        return status.st_rdev == dev_t(number) && access(path, R_OK | W_OK) == 0
    }
}

/// The terminal and language variables of a process, which it can change.
package struct TerminalEnvironment: Equatable {
    private static let names = ["TERM", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LANG"]
    private static let valueLimit = 64

    /// The kind of terminal; by default one that every terminal understands.
    package private(set) var type = "vt100"
    package private(set) var locale: [String: String] = [:]

    /// Parses `/proc/PID/environ`: variables that each end with a zero byte.
    ///
    /// Other programs look up files by these values, so only plain names are accepted. No other variable is copied: it
    /// may be a secret.
    package init(_ content: [UInt8]) {
        for line in content.split(separator: 0) {
            let known = TerminalEnvironment.names.first { name in line.starts(with: "\(name)=".utf8) }
            guard let name = known else { continue }
            let bytes = line.dropFirst(name.utf8.count + 1)
            guard TerminalEnvironment.isName(bytes) else { continue }
            let value = String(decoding: bytes, as: UTF8.self)
            if name == "TERM" { type = value } else { locale[name] = value }
        }
    }

    private static func isName(_ value: ArraySlice<UInt8>) -> Bool {
        guard let first = value.first, value.count <= valueLimit, isLetterOrDigit(first) else { return false }
        return value.allSatisfy { isLetterOrDigit($0) || "+-._@".utf8.contains($0) }
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
