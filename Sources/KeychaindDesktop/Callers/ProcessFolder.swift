package import Glibc
import KeychaindFiles

/// A process's folder in /proc, read with bounds, as the process controls much of the content.
package struct ProcessFolder {
    package let path: String

    package init(_ id: Int32, in root: String) {
        self.init("\(id)", in: root)
    }

    /// Opens a folder by its name, such as `self`.
    package init(_ name: String, in root: String) {
        path = "\(root)/\(name)"
    }

    /// Returns the start of a file; nil if it is unreadable or no regular file.
    ///
    /// May block for ever if the file is in a file system of the process.
    package func read(_ name: String, limit: Int) -> [UInt8]? {
        ProcessFolder.read("\(path)/\(name)", limit: limit)
    }

    package static func read(_ path: String, limit: Int) -> [UInt8]? {
        do throws(ExaminationObstacle) {
            return try content(of: path, limit: limit)
        } catch {
            return nil
        }
    }

    /// Returns what ``read(_:limit:)`` does; throws if the system is short of what it takes.
    package func content(of name: String, limit: Int) throws(ExaminationObstacle) -> [UInt8]? {
        try ProcessFolder.content(of: "\(path)/\(name)", limit: limit)
    }

    package static func content(of path: String, limit: Int) throws(ExaminationObstacle) -> [UInt8]? {
        do throws(RegularFile.Failure) {
            return try RegularFile(path, followingLink: false).read(most: limit)
        } catch {
            if case .system(let number) = error { try ExaminationObstacle.check(number) }
            return nil
        }
    }

    /// In bytes; most environments have less than a tenth of that.
    private static let longestEnvironment = 128 << 10

    /// Reads the variables, each ended by a zero byte, and overwrites them: they may hold secrets.
    ///
    /// - Parameter body: must not copy more than it needs.
    package func readEnvironment<Result>(_ body: ([UInt8]) -> Result) -> Result? {
        guard var content = read("environ", limit: Self.longestEnvironment) else { return nil }
        defer {
            content.withUnsafeMutableBytes { bytes in
                if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
            }
        }
        return body(content)
    }

    package func link(_ name: String) -> String? {
        var failure: Int32 = 0
        return link(name, failure: &failure)
    }

    /// - Parameter failure: gets the number of the error.
    func link(_ name: String, failure: inout Int32) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            let count = readlink("\(path)/\(name)", buffer.baseAddress!, buffer.count)
            guard count > 0 else {
                failure = errno
                return nil
            }
            return String(decoding: UnsafeRawBufferPointer(buffer)[..<count], as: UTF8.self)
        }
    }

    /// Returns the file's inode data, after following links.
    package func status(of name: String) -> stat? {
        ProcessFolder.status(at: "\(path)/\(name)")
    }

    package static func status(at path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}

/// The content of `/proc/PID/stat` (proc_pid_stat(5)).
package struct ProcessStatus: Equatable {
    package let commandName: String

    /// Field 3, such as `R` for running and `T` for stopped.
    package let state: Character

    /// Field 4.
    package let parentID: Int32

    /// Field 5.
    package let groupID: Int32

    /// Field 6.
    package let sessionID: Int32

    /// Field 7: the device number of the controlling terminal; 0 for none.
    package let terminal: UInt32

    /// Field 8: the foreground process group of that terminal.
    package let foregroundGroupID: Int32

    /// Field 22, in clock ticks since boot.
    package let startTime: UInt64

    /// Parses the fields of the line, in which the last `)` ends the name.
    package init?(_ content: [UInt8]) {
        guard let start = content.firstIndex(of: UInt8(ascii: "(")),
            let end = content.lastIndex(of: UInt8(ascii: ")")), start < end
        else { return nil }
        // Nothing after field 22 is needed, and callers are examined often.
        let fields = content[(end + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 20)
        guard let state = fields.first?.first, let parentID: Int32 = ProcessStatus.value(4, of: fields),
            let groupID: Int32 = ProcessStatus.value(5, of: fields),
            let sessionID: Int32 = ProcessStatus.value(6, of: fields),
            let terminal: Int32 = ProcessStatus.value(7, of: fields),
            let foregroundGroupID: Int32 = ProcessStatus.value(8, of: fields),
            let startTime: UInt64 = ProcessStatus.value(22, of: fields)
        else { return nil }
        commandName = String(decoding: content[(start + 1)..<end], as: UTF8.self)
        self.state = Character(Unicode.Scalar(state))
        self.parentID = parentID
        self.groupID = groupID
        self.sessionID = sessionID
        self.terminal = UInt32(bitPattern: terminal)
        self.foregroundGroupID = foregroundGroupID
        self.startTime = startTime
    }

    /// A field by its number in the manual; 3 is the first after the name.
    private static func value<Value: FixedWidthInteger>(_ number: Int, of fields: [ArraySlice<UInt8>]) -> Value? {
        guard fields.count > number - 3 else { return nil }
        return Value(String(decoding: fields[number - 3], as: UTF8.self))
    }

    /// In bytes.
    fileprivate static let longest = 2048

    /// Nil if the process has ended or cannot be seen.
    init?(of folder: ProcessFolder) throws(ExaminationObstacle) {
        guard let content = try folder.content(of: "stat", limit: ProcessStatus.longest) else { return nil }
        self.init(content)
    }
}

extension ProcessFolder {
    /// The content of `stat`; nil if the process has ended or cannot be seen, or the system is short of descriptors.
    package var processStatus: ProcessStatus? {
        read("stat", limit: ProcessStatus.longest).flatMap(ProcessStatus.init)
    }
}

/// The content of `/proc/PID/status` (proc_pid_status(5)).
package struct ProcessCredentials: Equatable {
    /// The real, effective, saved and file-system users.
    package let userIDs: Set<UInt32>

    /// The process that traces it; 0 for none.
    package let tracerID: Int32

    /// Parses lines `NAME: VALUE`; nil if one is missing.
    package init?(_ folder: ProcessFolder) {
        guard let content = folder.read("status", limit: ProcessCredentials.longest) else { return nil }
        let lines = String(decoding: content, as: UTF8.self).split(separator: "\n")
        func values(_ name: String) -> [Substring] {
            // The first match is the kernel's: newlines in the process's own name, on a line before, are escaped.
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
