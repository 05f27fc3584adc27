package import Gcrypt

/// What a login tells: one frame of the protocol in docs/pam.md, 2064 bytes.
///
/// `KCHNPAM` and the version (8), the operation (4), the lengths of the password and of the new one (2 each), both passwords (1024
/// each), filled up with zeros; numbers are big-endian. The size is the same for each, so that it tells nothing.
package enum LoginRequest: ~Copyable {
    /// To unlock with a password.
    case unlock(SecureBytes)

    /// To put a new password in the place of an old one.
    case change(old: SecureBytes, new: SecureBytes)

    /// What is wrong with a frame.
    package enum Flaw: Error, Equatable {
        case size
        case magic
        case operation
        /// A password is empty or too long, or there is one where none belongs.
        case length
        /// There is something behind a password.
        case padding
        /// There is no locked memory left for the passwords.
        case memory
    }

    /// The size of every frame in bytes.
    package static let frameSize = 16 + 2 * passwordLimit

    /// The longest password in bytes; PAM itself has 512.
    package static let passwordLimit = 1024

    /// `KCHNPAM`, and the version of the protocol.
    static let magic: [UInt8] = Array("KCHNPAM".utf8) + [1]

    private static let unlockOperation = 1
    private static let changeOperation = 2

    /// Reads a frame; its bytes remain the caller's to wipe.
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
