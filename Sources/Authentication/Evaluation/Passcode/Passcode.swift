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

    /// Counts the wrong ones, where those are not counted with the passcodes of `login`; nil where they are.
    var lockout: LockoutKeeper? { get }

    /// Tries a password, which is wiped whatever comes of it.
    func verify(_ passcode: consuming SecureBytes) async -> PasscodeOutcome
}

extension Passcode {
    /// Counted with the passcodes of `login`.
    package var lockout: LockoutKeeper? { nil }
}
