import Glibc

/// The file of the program that a process runs.
package struct ProgramFile: Hashable, Sendable {
    /// Where the file is, compared with what is at its path for everybody.
    package enum Place: Hashable, Sendable {
        /// The file at the path.
        case present
        /// No longer there: deleted, or replaced as by an update.
        case deleted
        /// In a file system that the process sees and keychaind does not, such as a container's; there the path may be
        /// anything.
        case foreign
    }

    /// The absolute path, whatever characters are in it; ``description`` is fit to be shown.
    package let path: String

    /// Whether it is what everybody finds at the path.
    package let place: Place

    /// Whether only root can change the file, and what the folders on the way hold.
    package let isProtected: Bool

    /// Creates a value from what was found.
    package init(path: String, place: Place = .present, isProtected: Bool = true) {
        self.path = path
        self.place = place
        self.isProtected = isProtected
    }

    /// Whether the program runs other people's programs or code, so that its own name says little.
    package var isInterpreter: Bool {
        let name = name
        // A version may be in the middle, too, as in `python3.11-dbg`, or there may be none, as in `gjs-console`.
        let stem = name.prefix { !$0.isNumber }
        let stems = [name, String(stem), String(stem.reversed().drop { $0 == "-" || $0 == "." }.reversed())]
        return isLoader || stems.contains(where: ProgramFile.interpreters.contains)
            || ProgramFile.families.contains(where: name.hasPrefix)
            // valgrind becomes one of its tools, such as `memcheck-amd64-linux`.
            || path.contains("/valgrind/")
    }

    /// Whether the program is the dynamic loader, such as `ld-linux-x86-64.so.2`, which runs the program that it is
    /// told to.
    var isLoader: Bool {
        let name = name
        return name == "ld.so" || name.contains(".so") && ["ld-", "ld.", "ld64."].contains(where: name.hasPrefix)
    }

    /// The last part of the path.
    package var name: String { String(path.split(separator: "/").last ?? "") }

    /// Names, without a version, of interpreters, and of programs that run what they are told to.
    private static let interpreters: Set<String> = [
        "awk", "bash", "bun", "busybox", "bwrap", "chroot", "chrt", "csh", "dash", "dbus-launch", "dbus-run-session",
        "deno", "dotnet", "electron", "emacs", "env", "fakeroot", "faketime", "fish", "flatpak", "flatpak-spawn",
        "firejail", "gawk", "gdb", "gdb-multiarch", "gdbserver", "gjs", "gjs-console", "guile", "ionice", "irb", "java",
        "ksh", "lldb", "lldb-server", "ltrace", "lua", "luajit", "mawk", "mksh", "mono", "mono-sgen", "nice", "node",
        "nodejs", "nohup", "nsenter", "parallel", "perf", "perl", "php", "php-cgi", "prlimit", "proot", "pypy",
        "python",
        "qml", "qmlscene", "rbash", "rr", "ruby", "runcon", "script", "setarch", "setpriv", "setsid", "sh",
        "stdbuf", "strace", "systemd-run", "taskset", "tclsh", "tcsh", "time", "timeout", "toybox", "unshare",
        "valgrind", "watch", "wish", "xargs", "xonsh", "zsh",
    ]

    /// How the names of whole families begin.
    private static let families = ["box64", "box86", "FEX", "qemu-", "toolbox", "wine"]
}

extension ProgramFile {
    /// Finds the program of a process; nil if it may not be seen.
    package init?(of folder: ProcessFolder) {
        guard let link = folder.link("exe"), link.hasPrefix("/"), let file = folder.status(of: "exe") else {
            return nil
        }
        if file.st_nlink == 0 {
            let suffix = " (deleted)"
            let path = link.hasSuffix(suffix) ? String(link.dropLast(suffix.count)) : link
            self.init(path: path, place: .deleted, isProtected: false)
            return
        }
        // The path is that in the process's own file system, where something else may have been mounted.
        guard let visible = ProcessFolder.status(at: link), visible.st_dev == file.st_dev, visible.st_ino == file.st_ino
        else {
            self.init(path: link, place: .foreign, isProtected: false)
            return
        }
        var protection = FileProtection()
        self.init(path: link, isProtected: protection.protects(link))
    }
}

extension ProgramFile: CustomStringConvertible {
    /// The path, cleaned, cut and in quotation marks, with what is odd about it.
    package var description: String {
        let path = "“\(CallerText.path(path))”"
        return switch place {
        case .present: path
        case .deleted: "\(path), deleted or replaced meanwhile"
        case .foreign: "\(path) in a file system of its own"
        }
    }
}

/// Judges whether only root can change a file; remembers the folders that it has looked at.
package struct FileProtection {
    private var folders: [Substring: Bool] = [:]

    /// Remembers nothing yet.
    package init() {}

    /// Whether a file and all folders above it are root's, and nobody else may change them.
    ///
    /// On a mount that ignores the set-uid bit nothing counts: what users can mount – by FUSE, or an image through
    /// udisks – is such a mount, and says of its files whatever its maker has written.
    package mutating func protects(_ path: String) -> Bool {
        guard path.hasPrefix("/"), isRootsAlone(path, isFolder: false), !FileProtection.ignoresSetUserID(path) else {
            return false
        }
        return path.lastIndex(of: "/").map { protectsFolder(path[..<$0]) } ?? false
    }

    /// Whether a deleted file was one that only root could have put into its folder.
    mutating func protectedDeleted(_ path: String) -> Bool {
        // Memory files look like files at the top: `/memfd:NAME`, `/SYSV00000000`, `/dev/zero`.
        guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return false }
        let folder = path[..<slash]
        guard let status = ProcessFolder.status(at: String(folder)), status.st_mode & (S_IWGRP | S_IWOTH) == 0,
            !FileProtection.ignoresSetUserID(String(folder))
        else { return false }
        return protectsFolder(folder)
    }

    private mutating func protectsFolder(_ path: Substring) -> Bool {
        if let known = folders[path] { return known }
        let isProtected =
            isRootsAlone(path.isEmpty ? "/" : String(path), isFolder: true)
            && (path.lastIndex(of: "/").map { protectsFolder(path[..<$0]) } ?? true)
        folders[path] = isProtected
        return isProtected
    }

    /// In a folder like `/tmp`, others may add files but not replace one of root's.
    private func isRootsAlone(_ path: String, isFolder: Bool) -> Bool {
        guard let status = ProcessFolder.status(at: path), status.st_uid == 0 else { return false }
        return status.st_mode & (S_IWGRP | S_IWOTH) == 0 || isFolder && status.st_mode & S_ISVTX != 0
    }

    private static func ignoresSetUserID(_ path: String) -> Bool {
        var status = statvfs()
        return statvfs(path, &status) != 0 || status.f_flag & UInt(ST_NOSUID) != 0
    }
}
