import Glibc
import KeychaindFiles
import KeychaindGcrypt

/// Reads a descriptor.
enum WholeFile {
    /// The most bytes of a file that is read at once: a thousand times a large keyring.
    static let maximumBytes = 64 << 20

    /// Reads everything from the present position.
    static func read(_ descriptor: Int32, startingWith start: UnsafeRawBufferPointer) throws(ForeignFileError)
        -> SecureBuffer
    {
        var content = try SecureBuffer(capacity: 1 << 16)
        try content.append(start)
        var chunk = try SecureBuffer(capacity: 1 << 16)
        while try fill(&chunk, from: descriptor) {
            guard content.count + chunk.count <= maximumBytes else {
                throw ForeignFileError(.tooLarge, "the file has more than \(maximumBytes >> 20) MiB")
            }
            try chunk.withUnsafeBytes { (bytes) throws(ForeignFileError) in try content.append(bytes) }
        }
        return content
    }

    /// Replaces the content of a buffer by the next bytes of the file; false at its end.
    static func fill(_ buffer: inout SecureBuffer, from descriptor: Int32) throws(ForeignFileError) -> Bool {
        try buffer.replace { (memory) throws(ForeignFileError) in
            guard let count = FileBytes.fill(memory, from: descriptor) else {
                throw ForeignFileError(.unreadable, "the file cannot be read: \(String(cString: strerror(errno)))")
            }
            return count
        }
        return buffer.count > 0
    }
}
