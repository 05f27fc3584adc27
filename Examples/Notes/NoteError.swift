import Security

/// An error of the note.
enum NoteError: LocalizedError {
    case keychain(OSStatus)
    case damaged
    case file(any Error)

    var errorDescription: String? {
        switch self {
        case .keychain(errSecUserCanceled): "Cancelled."
        case .keychain(errSecAuthFailed): "The finger or password was wrong."
        case .keychain(errSecItemNotFound): "The key of the note is missing from the keychain."
        case .keychain(let status): SecCopyErrorMessageString(status, nil) as String? ?? "Status \(status)."
        case .damaged: "The file of the note is damaged or has another key."
        case .file(let error): error.localizedDescription
        }
    }
}
