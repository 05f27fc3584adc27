package import KeychaindGcrypt

/// A secret: bytes and their content type.
///
/// The value cannot be copied, and its bytes are overwritten at its end. They are in ordinary memory, which may be
/// swapped out. A secret has no description, which keeps it out of logs.
public struct Secret: ~Copyable, Sendable {
    /// The content type of UTF-8 text, which libsecret returns as a password.
    public static let text = "text/plain"

    /// The largest secret that can be sent: the limit of a D-Bus array, with room for padding.
    public static let maximumCount = (64 << 20) - 1024

    let secureBytes: SecureBytes

    /// The content type, such as `text/plain` or `application/octet-stream`.
    public let contentType: String

    package init(_ bytes: consuming SecureBytes, contentType: String) {
        secureBytes = bytes
        self.contentType = contentType
    }

    /// Copies bytes; the caller overwrites the original.
    ///
    /// Throws ``SecretServiceError/Code/limitExceeded`` for more than ``maximumCount``.
    public init(
        copying bytes: UnsafeRawBufferPointer,
        contentType: String = "application/octet-stream"
    ) throws(SecretServiceError) {
        guard bytes.count <= Secret.maximumCount else {
            throw SecretServiceError(.limitExceeded, "the secret of \(bytes.count) bytes is larger than D-Bus allows")
        }
        do throws(GcryptError) {
            self.init(try SecureBytes(copying: bytes), contentType: contentType)
        } catch {
            throw SecretServiceError(error)
        }
    }

    /// Copies bytes; the original is not overwritten.
    public init(
        _ bytes: [UInt8],
        contentType: String = "application/octet-stream"
    ) throws(SecretServiceError) {
        self = try bytes.span.withUnsafeBytes { (bytes) throws(SecretServiceError) in
            try Secret(copying: bytes, contentType: contentType)
        }
    }

    /// Copies text as UTF-8; the string itself is not overwritten.
    public init(_ text: String, contentType: String = Secret.text) throws(SecretServiceError) {
        try self.init(Array(text.utf8), contentType: contentType)
    }

    /// The bytes themselves, without a copy.
    package consuming func takeBytes() -> SecureBytes { secureBytes }

    /// The number of bytes.
    public var count: Int { secureBytes.count }

    /// Calls a closure with the bytes; the pointer is valid only during the call.
    public borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try secureBytes.withUnsafeBytes(body)
    }

    /// A copy of the bytes, which is not overwritten.
    public var bytes: [UInt8] {
        withUnsafeBytes { [UInt8]($0) }
    }

    /// A copy as text, which is not overwritten; nil unless the bytes are UTF-8.
    public var text: String? {
        withUnsafeBytes { String(validating: $0, as: UTF8.self) }
    }
}
