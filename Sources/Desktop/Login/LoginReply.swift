/// What a login is told: 16 bytes, as docs/pam.md has them.
package struct LoginReply: Equatable, Sendable {
    /// What became of a request.
    package enum Status: UInt32, Sendable {
        /// The password has been read, and is being tried; what needs the keychain waits for that.
        case taken = 0

        /// The new password is on the disk.
        case changed = 1

        /// The old password opens nothing.
        case wrong = 2

        /// It failed for lack of disk space or memory, or on an I/O error.
        case failed = 3

        /// The request is none, or comes too early after too many wrong ones.
        case refused = 4
    }

    /// What became of it.
    package var status: Status

    /// How many collections have the new password.
    package var collections: Int

    /// Creates a reply.
    package init(_ status: Status, collections: Int = 0) {
        self.status = status
        self.collections = collections
    }

    /// The reply as it is sent.
    package var encoded: [UInt8] {
        LoginRequest.magic + Self.bytes(status.rawValue) + Self.bytes(UInt32(clamping: collections))
    }

    private static func bytes(_ value: UInt32) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian, Array.init)
    }
}
