import Foundation
import Glibc
import Synchronization

/// Contents of items in the memory of C.
enum KeychainContent {
    /// The sizes of the copies by their addresses.
    private static let sizes = Mutex<[UInt: Int]>([:])

    /// Copies bytes to memory that ``free(_:)`` frees; never nil, unless there is no memory.
    static func copy(_ data: Data) -> UnsafeMutableRawPointer? {
        guard let copy = malloc(max(1, data.count)) else { return nil }
        data.copyBytes(to: copy.assumingMemoryBound(to: UInt8.self), count: data.count)
        let (address, size) = (UInt(bitPattern: copy), data.count)
        sizes.withLock { $0[address] = size }
        return copy
    }

    /// Wipes and frees a copy; ignores any other memory.
    static func free(_ content: UnsafeMutableRawPointer?) {
        let address = UInt(bitPattern: content)
        guard let content, let size = sizes.withLock({ $0.removeValue(forKey: address) }) else { return }
        explicit_bzero(content, size)
        Glibc.free(content)
    }

    /// UTF-8 text; throws ``errSecParam`` for other bytes.
    static func text(_ bytes: UnsafeRawBufferPointer) throws(StatusError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw StatusError(errSecParam, "a text is not UTF-8")
        }
        return text
    }

    /// The four characters of a code.
    static func code(_ code: FourCharCode) -> String {
        String(decoding: (0..<4).map { UInt8(truncatingIfNeeded: code >> (24 - 8 * $0)) }, as: UTF8.self)
    }
}

/// Four characters as a number.
public typealias FourCharCode = UInt32

/// Four characters as a number.
public typealias OSType = FourCharCode
