import Gcrypt

/// A password, or a key in the form of text, that more than one attempt may need; wiped with the last reference.
final class SharedPassword: Sendable {
    /// The bytes.
    let bytes: SecureBytes

    /// Takes the bytes.
    init(_ bytes: consuming SecureBytes) {
        self.bytes = bytes
    }
}
