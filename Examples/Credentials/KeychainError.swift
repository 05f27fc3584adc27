import Security

/// An error of the keychain.
struct KeychainError: LocalizedError {
    let status: OSStatus

    static func check(_ status: OSStatus) throws(KeychainError) {
        guard status == errSecSuccess else { throw KeychainError(status: status) }
    }

    var errorDescription: String? {
        SecCopyErrorMessageString(status, nil) as String? ?? "The keychain failed with status \(status)."
    }
}
