package import Gcrypt
import Glibc

/// The lines that come from an Assuan server, any of which may have a password in it: in locked memory, wiped as they are read.
package struct AssuanInput: ~Copyable {
    /// What has become of an attempt to read.
    package enum Filling: Hashable, Sendable {
        /// There are more bytes than before.
        case more
        /// There is nothing to read now.
        case nothing
        /// There will be nothing more.
        case end
        /// The line is longer than lines may be.
        case overflow
    }

    private var buffer: SecureBytes
    private var count = 0

    /// Creates a buffer for one line of the greatest length, with its end, CR LF.
    package init() throws(GcryptError) {
        buffer = try SecureBytes(count: AssuanCommand.lineLimit + 2, in: .locked)
    }

    /// Reads from a descriptor that does not block.
    package mutating func fill(from descriptor: Int32) -> Filling {
        let start = count
        guard start < buffer.count else { return .overflow }
        let result = buffer.withUnsafeMutableBytes { buffer in
            read(descriptor, buffer.baseAddress! + start, buffer.count - start)
        }
        if result > 0 {
            count += result
            return .more
        }
        // A socket whose other end was closed with something unread has an error rather than an end.
        return result < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .end
    }

    /// Lends the first line, without its end, if it is complete; it is wiped then.
    package mutating func takeLine<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        let used = count
        let taken: (result: Result, count: Int)? = buffer.withUnsafeMutableBytes { buffer in
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<used])
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            let hasReturn = end > 0 && bytes[end - 1] == UInt8(ascii: "\r")
            let result = body(UnsafeRawBufferPointer(rebasing: bytes[..<(hasReturn ? end - 1 : end)]))
            let rest = used - (end + 1)
            memmove(buffer.baseAddress!, buffer.baseAddress! + end + 1, rest)
            explicit_bzero(buffer.baseAddress! + rest, used - rest)
            return (result, end + 1)
        }
        count -= taken?.count ?? 0
        return taken?.result
    }
}
