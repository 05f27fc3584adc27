extension Array where Element == UInt8 {
    /// Makes an array of a size whose bytes a closure writes, all of them, into memory that is not zeroed before.
    ///
    /// The memory is wiped when the closure throws: it may have written a plaintext there that was still to be encrypted.
    init(
        capacity: Int,
        writing body: (UnsafeMutableRawBufferPointer) throws(GcryptError) -> Void
    ) throws(GcryptError) {
        var failure: GcryptError?
        self = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<capacity])
            do throws(GcryptError) {
                try body(bytes)
                count = capacity
            } catch {
                wipe(bytes)
                failure = error
            }
        }
        if let failure { throw failure }
    }
}
