import CKeychaindGcrypt
import Glibc

/// Random bytes from the kernel.
///
/// Its generator is seeded before this process starts, whereas libgcrypt takes milliseconds to seed its own, and it
/// keeps no state here that could leak or be copied by a fork.
package enum RandomBytes {
    /// Random bytes that are not secret: nonces, salts, identifiers.
    package static func nonce(_ count: Int) throws(GcryptError) -> [UInt8] {
        guard count >= 0 else {
            throw GcryptError(.invalidParameters, reason: "cannot generate \(count) random bytes")
        }
        var bytes = [UInt8](repeating: 0, count: count)
        let filled = bytes.withUnsafeMutableBytes { fillReportingErrors($0) }
        try filled.get()
        return bytes
    }

    /// Fills a buffer with random bytes, which may be secret.
    package static func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(GcryptError) {
        try fillReportingErrors(buffer).get()
    }

    private static func fillReportingErrors(_ buffer: UnsafeMutableRawBufferPointer) -> Result<Void, GcryptError> {
        var rest = buffer[...]
        while !rest.isEmpty {
            let written = getrandom(UnsafeMutableRawBufferPointer(rebasing: rest).baseAddress, rest.count, 0)
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR {
                return .failure(GcryptError(.randomnessUnavailable, reason: "getrandom failed with error \(errno)"))
            }
        }
        return .success(())
    }
}
