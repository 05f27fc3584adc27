/// The code that a process has in its memory, as `/proc/PID/maps` lists it (proc_pid_maps(5)).
package struct MappedCode: Hashable, Sendable {
    /// A piece of executable memory.
    package enum Piece: Hashable, Sendable {
        /// The kernel's own, such as `[vdso]`.
        case kernel
        /// Of a file.
        case file(String)
        /// Of a file that is no longer at its path: deleted, or replaced as by an update.
        case deleted(String)
        /// Of no file, as a compiler at run time makes it.
        case anonymous
        /// Writable and executable at once.
        case writable
    }

    /// Who can have put code into a process.
    package enum Origin: Hashable, Sendable {
        /// Root alone, as far as files are concerned.
        case system
        /// The user's programs: a file is theirs.
        case user
        /// It cannot be seen.
        case unseen
    }

    /// All pieces, each once.
    package let pieces: Set<Piece>

    /// Reads the lines `START-END PERMISSIONS OFFSET DEVICE INODE PATH`; nil if there is no code, or one is not of that
    /// form.
    package init?(_ content: [UInt8]) {
        guard content.count < MappedCode.longest, content.last == UInt8(ascii: "\n") else { return nil }
        var pieces: Set<Piece> = []
        for line in content.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard fields.count >= 5, fields[1].count == 4 else { return nil }
            let permissions = Array(fields[1])
            guard permissions[2] == UInt8(ascii: "x") else { continue }
            let path = fields.count > 5 ? fields[5].drop { $0 == UInt8(ascii: " ") } : []
            pieces.insert(
                MappedCode.piece(String(decoding: path, as: UTF8.self), isWritable: permissions[1] == UInt8(ascii: "w"))
            )
        }
        guard !pieces.isEmpty else { return nil }
        self.pieces = pieces
    }

    private static func piece(_ path: String, isWritable: Bool) -> Piece {
        if isWritable { return .writable }
        if ["[vdso]", "[vsyscall]", "[uprobes]"].contains(path) { return .kernel }
        guard path.hasPrefix("/") else { return .anonymous }
        let suffix = " (deleted)"
        return path.hasSuffix(suffix) ? .deleted(String(path.dropLast(suffix.count))) : .file(path)
    }

    /// Who can have put the code there; what is made at run time is not counted, as browsers do that, too.
    package var origin: Origin {
        var protection = FileProtection()
        let isSystems = pieces.allSatisfy { piece in
            switch piece {
            case .kernel, .anonymous, .writable: true
            case .file(let path): protection.protects(path)
            case .deleted(let path): protection.protectedDeleted(path)
            }
        }
        return isSystems ? .system : .user
    }

    /// Why the process may run code that is not the system's, in words; nil if all of it is.
    package var objection: String? {
        var protection = FileProtection()
        for piece in pieces {
            switch piece {
            case .kernel:
                continue
            case .file(let path):
                if !protection.protects(path) {
                    return "it runs code of “\(CallerText.path(path))”, which is no system file"
                }
            case .deleted(let path):
                return "it runs code of “\(CallerText.path(path))”, which was deleted or replaced"
            case .anonymous:
                return "it runs code that is in no file"
            case .writable:
                return "it can change its own code"
            }
        }
        return nil
    }

    /// How much is read, in bytes: tens of thousands of lines.
    package static let longest = 4 << 20
}
