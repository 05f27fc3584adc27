package import Gcrypt

/// A secret: bytes, wiped after use, and their content type.
package struct Secret: ~Copyable, Sendable {
    package let bytes: SecureBytes

    /// The content type as given by the client (#17), usually `text/plain; charset=utf8`.
    package let contentType: String

    /// Creates a secret.
    package init(bytes: consuming SecureBytes, contentType: String) {
        self.bytes = bytes
        self.contentType = contentType
    }
}

/// A secret that several closures share; wiped with the last reference.
final class SharedSecret: Sendable {
    let secret: Secret

    init(_ secret: consuming Secret) {
        self.secret = secret
    }
}
