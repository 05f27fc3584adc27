package import KeychaindGcrypt

/// A request of a login: one frame of the protocol in docs/pam.md, of 2064 bytes.
///
/// `KCHNPAM` and the version (8), the operation (4), the lengths of the password and the new one (2 each), both
/// passwords (1024 each), padded with zeros; numbers are big-endian. All frames have one size, which hides the lengths
/// of passwords.
package enum LoginRequest: ~Copyable {
    case unlock(SecureBytes)
    case change(old: SecureBytes, new: SecureBytes)

    package enum Flaw: Error, Equatable {
        case size
        case magic
        case operation
        /// A password is empty, too long or unexpected.
        case length
        case padding
        /// There is no locked memory for the passwords.
        case memory
    }

    /// In bytes.
    package static let frameSize = 16 + 2 * passwordLimit

    /// The maximum length of a password in bytes; PAM has 512.
    package static let passwordLimit = 1024

    static let magic: [UInt8] = Array("KCHNPAM".utf8) + [1]

    private static let unlockOperation = 1
    private static let changeOperation = 2

    /// Parses a frame; the caller wipes its bytes.
    package init(parsing frame: UnsafeRawBufferPointer) throws(Flaw) {
        guard frame.count == Self.frameSize else { throw .size }
        guard frame.prefix(Self.magic.count).elementsEqual(Self.magic) else { throw .magic }
        let operation = Self.integer(frame[8..<12])
        let password = try Self.password(frame[16..<1040], count: Self.integer(frame[12..<14]))
        let newPassword = try Self.password(frame[1040..<2064], count: Self.integer(frame[14..<16]))
        guard !password.isEmpty else { throw .length }
        switch operation {
        case Self.unlockOperation:
            guard newPassword.isEmpty else { throw .length }
            self = .unlock(try Self.copy(password))
        case Self.changeOperation:
            guard !newPassword.isEmpty else { throw .length }
            self = .change(old: try Self.copy(password), new: try Self.copy(newPassword))
        default: throw .operation
        }
    }

    private static func integer(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
        bytes.reduce(0) { value, byte in value << 8 | Int(byte) }
    }

    private static func password(
        _ field: Slice<UnsafeRawBufferPointer>,
        count: Int
    ) throws(Flaw) -> UnsafeRawBufferPointer {
        guard count <= field.count else { throw .length }
        guard field.dropFirst(count).allSatisfy({ byte in byte == 0 }) else { throw .padding }
        return UnsafeRawBufferPointer(rebasing: field.prefix(count))
    }

    private static func copy(_ bytes: UnsafeRawBufferPointer) throws(Flaw) -> SecureBytes {
        do throws(GcryptError) {
            return try SecureBytes(copying: bytes, in: .locked)
        } catch {
            throw .memory
        }
    }
}

/// The reply to a login: 16 bytes, see docs/pam.md.
package struct LoginReply: Equatable, Sendable {
    package enum Status: UInt32, Sendable {
        /// The password is being verified; callers that need the keychain wait.
        case taken = 0

        case changed = 1

        /// The old password opens nothing.
        case wrong = 2

        /// Out of disk space or memory, or an I/O error.
        case failed = 3

        /// The request is invalid, or too early after too many wrong ones.
        case refused = 4
    }

    package var status: Status

    /// The number of collections with the new password.
    package var collections: Int

    package init(_ status: Status, collections: Int = 0) {
        self.status = status
        self.collections = collections
    }

    package var encoded: [UInt8] {
        LoginRequest.magic + Self.bytes(status.rawValue) + Self.bytes(UInt32(clamping: collections))
    }

    private static func bytes(_ value: UInt32) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian, Array.init)
    }
}
