import Security

/// What the keychain has answered in place of a value.
struct KeychainError: Error, CustomStringConvertible {
    let status: OSStatus

    /// The message that belongs to the status.
    var description: String {
        SecCopyErrorMessageString(status, nil) as String? ?? "Status \(status)."
    }
}
