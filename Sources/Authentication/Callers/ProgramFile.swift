/// The file of the program that a process runs.
package struct ProgramFile: Hashable, Sendable {
    /// Where the file is, compared with what is at its path for everybody.
    package enum Place: Hashable, Sendable {
        /// The file at the path.
        case present
        /// No longer there: deleted, or replaced as by an update.
        case deleted
        /// In a file system that the process sees and keychaind does not, such as a container's; there the path may be anything.
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

    /// Whether the program runs other people's programs, so that its own name says little.
    package var isInterpreter: Bool {
        let name = path.split(separator: "/").last ?? ""
        let stem = name.utf8.reversed().drop { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
                || byte == UInt8(ascii: "-")
        }
        return ProgramFile.interpreters.contains(String(decoding: stem.reversed(), as: UTF8.self))
    }

    /// Their names without a version.
    private static let interpreters: Set<String> = [
        "bash", "bun", "busybox", "dash", "deno", "dotnet", "fish", "gjs", "gjs-console", "guile", "java", "ksh", "lua",
        "luajit", "mono", "mono-sgen", "node", "nodejs", "perl", "php", "pypy", "python", "qml", "ruby", "sh", "tclsh",
        "wine", "wish", "zsh",
    ]
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
