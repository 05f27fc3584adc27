package import Glibc

/// A process's folder in /proc, read with bounds: everything in it may be what the process wants it to be.
package struct ProcessFolder {
    package let path: String

    /// - Parameter root: where the processes are.
    package init(_ id: Int32, in root: String) {
        self.init("\(id)", in: root)
    }

    /// The same by the folder's name, such as `self`.
    package init(_ name: String, in root: String) {
        path = "\(root)/\(name)"
    }

    /// The start of a file, up to a number of bytes; nil if it cannot be read, or is no regular file.
    ///
    /// May block for as long as the process likes if the file is in a file system of the process's.
    package func read(_ name: String, limit: Int) -> [UInt8]? {
        ProcessFolder.read("\(path)/\(name)", limit: limit)
    }

    /// The same for any path.
    package static func read(_ path: String, limit: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            while count < limit {
                let result = Glibc.read(descriptor, buffer.baseAddress! + count, limit - count)
                guard result > 0 else { break }
                count += result
            }
        }
    }

    /// Where a link leads; nil if it cannot be read.
    package func link(_ name: String) -> String? {
        let target = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            buffer.withMemoryRebound(to: CChar.self) { buffer in
                count = max(0, readlink("\(path)/\(name)", buffer.baseAddress!, buffer.count))
            }
        }
        return target.isEmpty ? nil : String(decoding: target, as: UTF8.self)
    }

    /// What a file's inode says, after following links.
    package func status(of name: String) -> stat? {
        ProcessFolder.status(at: "\(path)/\(name)")
    }

    /// The same for any path.
    package static func status(at path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}

/// What `/proc/PID/stat` tells of a process (proc_pid_stat(5)).
package struct ProcessStatus: Equatable {
    /// The name that the process gives itself.
    package let commandName: String

    /// Field 3: what it does, such as `R` while it runs and `T` while it is stopped.
    package let state: Character

    /// Field 4: its parent.
    package let parentID: Int32

    /// Field 5: its process group.
    package let groupID: Int32

    /// Field 7: the number of the device of the terminal that it was started on; 0 if there is none.
    package let terminal: UInt32

    /// Field 8: the process group in the foreground of that terminal.
    package let foregroundGroupID: Int32

    /// Field 22: when it was started, in clock ticks since the machine was.
    package let startTime: UInt64

    /// Reads `PID (NAME) STATE …`; a name may hold anything, also `)`, so that only the last one ends it.
    package init?(_ content: [UInt8]) {
        guard let start = content.firstIndex(of: UInt8(ascii: "(")),
            let end = content.lastIndex(of: UInt8(ascii: ")")), start < end
        else { return nil }
        let fields = content[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard let state = fields.first?.first, let parentID: Int32 = ProcessStatus.value(4, of: fields),
            let groupID: Int32 = ProcessStatus.value(5, of: fields),
            let terminal: Int32 = ProcessStatus.value(7, of: fields),
            let foregroundGroupID: Int32 = ProcessStatus.value(8, of: fields),
            let startTime: UInt64 = ProcessStatus.value(22, of: fields)
        else { return nil }
        commandName = String(decoding: content[(start + 1)..<end], as: UTF8.self)
        self.state = Character(Unicode.Scalar(state))
        self.parentID = parentID
        self.groupID = groupID
        self.terminal = UInt32(bitPattern: terminal)
        self.foregroundGroupID = foregroundGroupID
        self.startTime = startTime
    }

    /// A field by its number in the manual; the first behind the name is the third.
    private static func value<Value: FixedWidthInteger>(_ number: Int, of fields: [ArraySlice<UInt8>]) -> Value? {
        guard fields.count > number - 3 else { return nil }
        return Value(String(decoding: fields[number - 3], as: UTF8.self))
    }

    /// More than the line can have.
    package static let longest = 2048
}

/// What `/proc/PID/status` tells of a process (proc_pid_status(5)).
package struct ProcessCredentials: Equatable {
    /// The real, effective and saved user, and that for files: one, if they are the same.
    package let userIDs: Set<UInt32>

    /// The process that traces it; 0 if none does.
    package let tracerID: Int32

    /// Reads lines of the form `NAME: VALUE`; nil if one is missing.
    package init?(_ folder: ProcessFolder) {
        guard let content = folder.read("status", limit: ProcessCredentials.longest) else { return nil }
        let lines = String(decoding: content, as: UTF8.self).split(separator: "\n")
        func values(_ name: String) -> [Substring] {
            // The first is the kernel's: the process's own name is on a line before, on which a newline is escaped.
            let line = lines.first { $0.hasPrefix(name + ":") }
            return line?.dropFirst(name.count + 1).split { $0 == "\t" || $0 == " " } ?? []
        }
        let users = values("Uid").compactMap { UInt32($0) }
        guard users.count == 4, let tracerID = values("TracerPid").first.flatMap({ Int32($0) }) else { return nil }
        userIDs = Set(users)
        self.tracerID = tracerID
    }

    private static let longest = 8 << 10
}
