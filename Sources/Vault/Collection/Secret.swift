package import Gcrypt

/// What an item keeps: bytes, wiped when they go away, and what kind of bytes they are.
package struct Secret: ~Copyable, Sendable {
    /// The bytes, as they were given.
    package let bytes: SecureBytes

    /// The content type, as it was given (#17): `text/plain; charset=utf8` from most programs.
    package let contentType: String

    /// Makes a secret.
    package init(bytes: consuming SecureBytes, contentType: String) {
        self.bytes = bytes
        self.contentType = contentType
    }
}

/// A secret that several closures refer to; it is wiped with the last reference.
final class SharedSecret: Sendable {
    let secret: Secret

    init(_ secret: consuming Secret) {
        self.secret = secret
    }
}
