/// What a path names.
package enum FileState: Hashable, Codable, Sendable {
    case absent
    case link(target: String)
    case file(FileContent)
    /// A folder, a device, a file of another user or one that is too large: left alone.
    case other

    /// Whether both are the same to a reader, whenever they were written.
    package func matches(_ other: FileState) -> Bool {
        guard case .file(let content) = self, case .file(let otherContent) = other else { return self == other }
        return content.bytes == otherContent.bytes && content.mode == otherContent.mode
    }

    static func text(_ text: String) -> FileState {
        .file(FileContent(bytes: Array(text.utf8), mode: 0o644))
    }
}

/// The content of a small file.
package struct FileContent: Hashable, Codable, Sendable {
    package var bytes: [UInt8]
    package var mode: UInt32
    /// Nil for a file that is written now.
    package var modified: Modification?

    package struct Modification: Hashable, Codable, Sendable {
        package let seconds: Int
        package let nanoseconds: Int
    }

    /// The largest file that is read or changed.
    static let limit = 1 << 20

    package init(bytes: [UInt8], mode: UInt32, modified: Modification? = nil) {
        self.bytes = bytes
        self.mode = mode
        self.modified = modified
    }
}
