package import KeychaindGcrypt

/// A secret: bytes, wiped after use, and their content type.
package struct Secret: ~Copyable, Sendable {
    package let bytes: SecureBytes

    /// The content type as given by the client (#17), usually `text/plain; charset=utf8`.
    package let contentType: String

    package init(bytes: consuming SecureBytes, contentType: String) {
        self.bytes = bytes
        self.contentType = contentType
    }

    package consuming func takeBytes() -> SecureBytes { bytes }
}

/// A secret that several closures share; wiped with the last reference.
final class SharedSecret: Sendable {
    let secret: Secret

    init(_ secret: consuming Secret) {
        self.secret = secret
    }
}

/// The plaintext of a sealed secret: length of the content type (2), content type, secret.
enum SecretEncoding {
    static func encode(_ secret: borrowing Secret) throws(GcryptError) -> SecureBytes {
        let contentType = Array(secret.contentType.utf8)
        var plaintext = try SecureBytes(count: 2 + contentType.count + secret.bytes.count)
        plaintext.withUnsafeMutableBytes { plaintext in
            plaintext.storeBytes(of: UInt16(clamping: contentType.count).bigEndian, as: UInt16.self)
            UnsafeMutableRawBufferPointer(rebasing: plaintext[2...]).copyBytes(from: contentType)
            secret.bytes.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: plaintext[(2 + contentType.count)...]).copyMemory(from: bytes)
            }
        }
        return plaintext
    }

    static func decode(_ plaintext: consuming SecureBytes) throws(GcryptError) -> Secret {
        let type: (contentType: String, end: Int)? = plaintext.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let length = reader.integer(UInt16.self), let contentType = reader.bytes(Int(length)) else {
                return nil
            }
            return (String(decoding: contentType, as: UTF8.self), bytes.count - reader.remaining.count)
        }
        guard let type else {
            throw GcryptError(.authenticationFailed, reason: "the encoding of the secret is invalid")
        }
        var bytes = consume plaintext
        bytes.removeFirst(type.end)
        return Secret(bytes: bytes, contentType: type.contentType)
    }
}
