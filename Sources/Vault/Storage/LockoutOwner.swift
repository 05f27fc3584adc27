/// Whose failed attempts are counted together; each has a record of its own.
package enum LockoutOwner: String, CaseIterable, Sendable {
    /// What a person has typed or touched, when asked by a dialog.
    case people = "lockout"

    /// Passwords that programs have brought, on the bus or at the socket for logins: no person need know of them.
    case programs = "lockout of programs"
}
