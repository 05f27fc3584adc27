/// The code that a process has loaded, from `/proc/PID/maps` (proc_pid_maps(5)).
package struct MappedCode: Hashable, Sendable {
    /// A piece of executable memory.
    package enum Piece: Hashable, Sendable {
        /// The kernel's own, such as `[vdso]`.
        case kernel
        case file(String)
        /// Of a deleted file, or one that was replaced, as by an update.
        case deleted(String)
        /// Of no file, such as code compiled at run time.
        case anonymous
        case writable
    }

    /// The possible authors of a process's code.
    package enum Origin: Hashable, Sendable {
        /// Only root, as far as files are concerned.
        case system
        /// The user's programs, which can change a file.
        case user
        case unseen
    }

    package let pieces: Set<Piece>

    /// Parses lines `START-END PERMISSIONS OFFSET DEVICE INODE PATH`; nil if one is invalid or there is no code.
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

    /// The possible authors, apart from code made at run time, which browsers make, too.
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

    /// The reason why the process may run code other than the system's.
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

    /// In bytes: tens of thousands of lines.
    package static let longest = 4 << 20
}
