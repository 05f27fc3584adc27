import Glibc

/// Overwrites a buffer with zeros in a way that the compiler does not leave out.
func wipe(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let base = buffer.baseAddress else { return }
    explicit_bzero(base, buffer.count)
}
