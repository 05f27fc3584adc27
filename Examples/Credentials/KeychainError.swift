import Security

/// What the keychain has answered instead of success.
struct KeychainError: LocalizedError {
    let status: OSStatus

    static func check(_ status: OSStatus) throws(KeychainError) {
        guard status == errSecSuccess else { throw KeychainError(status: status) }
    }

    var errorDescription: String? {
        SecCopyErrorMessageString(status, nil) as String? ?? "The keychain has failed with status \(status)."
    }
}
