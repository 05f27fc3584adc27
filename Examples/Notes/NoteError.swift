import Security

/// Why something could not be done with the note.
enum NoteError: LocalizedError {
    case keychain(OSStatus)
    case damaged
    case file(any Error)

    var errorDescription: String? {
        switch self {
        case .keychain(errSecUserCanceled): "Cancelled."
        case .keychain(errSecAuthFailed): "That was not right."
        case .keychain(errSecItemNotFound): "The key of the note is not in the keychain any more."
        case .keychain(let status): SecCopyErrorMessageString(status, nil) as String? ?? "Status \(status)."
        case .damaged: "The file of the note is damaged, or is another key's."
        case .file(let error): error.localizedDescription
        }
    }
}
