import Glibc

/// Makes a system call, and repeats it while a signal interrupts it.
package func retryingInterrupted<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        guard result < 0, errno == EINTR else { return result }
    }
}

/// Reads and writes all bytes; after a failure, `errno` has the reason.
package enum FileBytes {
    /// Reads until the buffer is full or the file ends; the number of bytes, or nil after a failure.
    package static func fill(_ buffer: UnsafeMutableRawBufferPointer, from descriptor: CInt) -> Int? {
        var count = 0
        while count < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let result = retryingInterrupted { Glibc.read(descriptor, rest.baseAddress, rest.count) }
            guard result >= 0 else { return nil }
            if result == 0 { break }
            count += result
        }
        return count
    }

    /// Reads to the end of the file, or as many bytes; nil after a failure.
    ///
    /// Up to a mebibyte, without copies on the way: it may be secret.
    package static func read(_ descriptor: CInt, most: Int = .max) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < most {
            let size = min(most - bytes.count, most <= 1 << 20 ? most : 64 << 10)
            var filled: Int?
            let chunk = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                filled = fill(UnsafeMutableRawBufferPointer(buffer), from: descriptor)
                count = filled ?? 0
            }
            guard filled != nil else { return nil }
            bytes = bytes.isEmpty ? chunk : bytes + chunk
            if chunk.count < size { break }
        }
        return bytes
    }

    /// Writes all bytes; false after a failure.
    package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = retryingInterrupted { Glibc.write(descriptor, part.baseAddress, part.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
