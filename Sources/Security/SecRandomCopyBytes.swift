import KeychaindGcrypt

/// A source of random numbers; there is only one.
public final class SecRandom: Sendable {}

/// A reference to a source of random numbers.
public typealias SecRandomRef = SecRandom

/// The kernel's random number generator.
public let kSecRandomDefault: SecRandomRef? = nil

/// Fills memory with random bytes suitable for keys.
///
/// - Parameters:
///   - rnd: not used: the source is always the kernel.
///   - count: the number of bytes.
///   - bytes: the memory.
/// - Returns: ``errSecSuccess``, ``errSecParam`` for a negative count, or ``errSecIO`` if the kernel fails.
@discardableResult
public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> OSStatus {
    guard count >= 0 else { return errSecParam }
    do throws(GcryptError) {
        try RandomBytes.fill(UnsafeMutableRawBufferPointer(start: bytes, count: count))
        return errSecSuccess
    } catch {
        return errSecIO
    }
}
