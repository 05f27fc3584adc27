import Gcrypt

/// A password or recovery key for several attempts; wiped with the last reference.
final class SharedPassword: Sendable {
    let bytes: SecureBytes

    init(_ bytes: consuming SecureBytes) {
        self.bytes = bytes
    }
}
