import Glibc
package import KeychaindLanguage

/// The file of a running program.
package struct ProgramFile: Hashable, Sendable {
    /// The file's place, compared with the path that everybody sees.
    package enum Place: Hashable, Sendable {
        case present
        /// Deleted, or replaced as by an update.
        case deleted
        /// In a file system that keychaind does not see, such as a container's, where a path proves nothing.
        case foreign
    }

    /// Absolute, with any characters; ``description`` is fit for display.
    package let path: String

    package let place: Place

    /// Whether only root can change the file and the folders above it.
    package let isProtected: Bool

    package init(path: String, place: Place = .present, isProtected: Bool = true) {
        self.path = path
        self.place = place
        self.isProtected = isProtected
    }

    /// Whether the program runs other code, so that its own name says little.
    package var isInterpreter: Bool {
        let name = name
        // The version may be in the middle, as in `python3.11-dbg`, or missing, as in `gjs-console`.
        let stem = name.prefix { !$0.isNumber }
        let stems = [name, String(stem), String(stem.reversed().drop { $0 == "-" || $0 == "." }.reversed())]
        return isLoader || stems.contains(where: ProgramFile.interpreters.contains)
            || ProgramFile.families.contains(where: name.hasPrefix)
            // valgrind becomes one of its tools, such as `memcheck-amd64-linux`.
            || path.includes("/valgrind/")
    }

    /// Whether the program is the dynamic loader, such as `ld-linux-x86-64.so.2`, which runs any program.
    var isLoader: Bool {
        let name = name
        return name == "ld.so" || name.includes(".so") && ["ld-", "ld.", "ld64."].contains(where: name.hasPrefix)
    }

    package var name: String { String(path.split(separator: "/").last ?? "") }

    /// Interpreters and programs that run others, without versions.
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

    /// Prefixes of whole families.
    private static let families = ["box64", "box86", "FEX", "qemu-", "toolbox", "wine"]
}

extension ProgramFile {
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
        // The path is in the process's file system, where something else may be mounted.
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
    /// The path for the log.
    package var description: String { text.english }

    /// The path, cleaned, cut and quoted, with anything unusual about it.
    package var text: Text {
        let path = CallerText.path(path)
        return switch place {
        case .present: Text("“\(path)”")
        case .deleted: Text("“\(path)”, deleted or replaced meanwhile")
        case .foreign: Text("“\(path)” in a file system of its own")
        }
    }
}

/// Judges whether only root can change a file; caches the folders.
package struct FileProtection {
    private var folders: [Substring: Bool] = [:]

    package init() {}

    /// Whether root alone can change a file and all folders above it.
    ///
    /// False on a mount that ignores the set-uid bit: users can create such mounts, by FUSE or udisks, and choose the
    /// owners of their files.
    package mutating func protects(_ path: String) -> Bool {
        guard path.hasPrefix("/"), isRootsAlone(path, isFolder: false), !FileProtection.ignoresSetUserID(path) else {
            return false
        }
        return path.lastIndex(of: "/").map { protectsFolder(path[..<$0]) } ?? false
    }

    /// Whether only root could have put a deleted file into its folder.
    mutating func protectedDeleted(_ path: String) -> Bool {
        // Memory files look like files in the root folder: `/memfd:NAME`, `/SYSV00000000`, `/dev/zero`.
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

    /// In a folder like `/tmp`, others may add files but not replace root's.
    private func isRootsAlone(_ path: String, isFolder: Bool) -> Bool {
        guard let status = ProcessFolder.status(at: path), status.st_uid == 0 else { return false }
        return status.st_mode & (S_IWGRP | S_IWOTH) == 0 || isFolder && status.st_mode & S_ISVTX != 0
    }

    private static func ignoresSetUserID(_ path: String) -> Bool {
        var status = statvfs()
        return statvfs(path, &status) != 0 || status.f_flag & UInt(ST_NOSUID) != 0
    }
}

extension String {
    /// Whether the bytes of another text are in this one.
    ///
    /// `contains` of a text comes with a parser of regular expressions, which would be a megabyte of the daemon.
    func includes(_ other: String) -> Bool {
        utf8.indices.contains { utf8[$0...].starts(with: other.utf8) }
    }
}
