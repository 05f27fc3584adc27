import Security

/// An error of the keychain.
struct KeychainError: Error, CustomStringConvertible {
    let status: OSStatus

    /// The message of the status.
    var description: String {
        SecCopyErrorMessageString(status, nil) as String? ?? "Status \(status)."
    }
}
