import Glibc

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

    /// The path that such a device has by convention (the kernel's devices.txt); nil if it is of no kind on which people type.
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
