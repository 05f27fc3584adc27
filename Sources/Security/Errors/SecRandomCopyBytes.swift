import Gcrypt

/// A source of random numbers; there is only the default one.
public final class SecRandom: Sendable {}

/// A reference to a source of random numbers.
public typealias SecRandomRef = SecRandom

/// The kernel's generator.
public let kSecRandomDefault: SecRandomRef? = nil

/// Fills memory with random bytes that are good for keys.
///
/// - Parameters:
///   - rnd: the source; any is the kernel's generator.
///   - count: how many bytes there are room for.
///   - bytes: where to put them.
/// - Returns: ``errSecSuccess``, ``errSecParam`` for a negative count, or ``errSecIO`` if the kernel gave none.
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
