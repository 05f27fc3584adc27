package import DBus
package import Gcrypt

/// What logins are for: whoever has the keychains.
@BusActor
package protocol LoginKeychain: AnyObject {
    /// Tries a password; returns when it is known whether it was right. Whoever needs what it opens waits from the call on.
    func unlock(_ password: consuming SecureBytes, from peer: LoginPeer) async

    /// Puts a new password in the place of an old one; returns when that is on the disk.
    func change(
        _ password: consuming SecureBytes,
        to newPassword: consuming SecureBytes,
        from peer: LoginPeer
    ) async -> LoginReply
}
