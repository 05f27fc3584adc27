package import DBus
package import Gcrypt

/// A password that can be verified: the passcode, or the application password of an item.
///
/// Who implements it keeps the key material that a right password gives, until it has opened what was asked for. An evaluation sees
/// only whether it was right.
@BusActor
package protocol Passcode: AnyObject {
    /// Whether there is one at all.
    var isSet: Bool { get }

    /// Tries a password, which is wiped whatever comes of it.
    func verify(_ passcode: consuming SecureBytes) async -> PasscodeOutcome
}
