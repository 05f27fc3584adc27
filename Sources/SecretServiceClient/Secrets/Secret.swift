import Gcrypt

/// A secret: bytes, and what they are.
///
/// The bytes are overwritten when the value goes, and it cannot be copied; they are in ordinary memory, which may reach swap space.
/// It has no description, so it does not get into logs.
public struct Secret: ~Copyable, Sendable {
    /// The content type of text: the one with which libsecret gives a secret out as a password.
    ///
    /// The text is UTF-8.
    public static let text = "text/plain"

    /// The most bytes that are sent: what fits into an array of D-Bus, with room for padding.
    public static let maximumCount = (64 << 20) - 1024

    let secureBytes: SecureBytes

    /// What the bytes are, such as `text/plain` or `application/octet-stream`.
    public let contentType: String

    init(_ bytes: consuming SecureBytes, contentType: String) {
        secureBytes = bytes
        self.contentType = contentType
    }

    /// Copies bytes, whose original remains the caller's to overwrite.
    ///
    /// Throws ``SecretServiceError/Code/limitExceeded`` for more than ``maximumCount``.
    public init(
        copying bytes: UnsafeRawBufferPointer,
        contentType: String = "application/octet-stream"
    ) throws(SecretServiceError) {
        guard bytes.count <= Secret.maximumCount else {
            throw SecretServiceError(.limitExceeded, "a secret of \(bytes.count) bytes")
        }
        do throws(GcryptError) {
            self.init(try SecureBytes(copying: bytes), contentType: contentType)
        } catch {
            throw SecretServiceError(error)
        }
    }

    /// Copies bytes, whose original remains as it is.
    public init(
        _ bytes: [UInt8],
        contentType: String = "application/octet-stream"
    ) throws(SecretServiceError) {
        self = try bytes.span.withUnsafeBytes { (bytes) throws(SecretServiceError) in
            try Secret(copying: bytes, contentType: contentType)
        }
    }

    /// Copies text as UTF-8; the string itself remains in memory for as long as Swift likes.
    public init(_ text: String, contentType: String = Secret.text) throws(SecretServiceError) {
        try self.init(Array(text.utf8), contentType: contentType)
    }

    /// The number of bytes.
    public var count: Int { secureBytes.count }

    /// Gives the bytes to a closure, which must not keep the pointer.
    public borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try secureBytes.withUnsafeBytes(body)
    }

    /// A copy of the bytes, which nobody overwrites.
    public var bytes: [UInt8] {
        withUnsafeBytes { [UInt8]($0) }
    }

    /// A copy as text, which nobody overwrites; nil unless the bytes are UTF-8.
    public var text: String? {
        withUnsafeBytes { String(validating: $0, as: UTF8.self) }
    }
}
