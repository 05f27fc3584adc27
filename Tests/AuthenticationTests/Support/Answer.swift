import KeychaindAuthentication
import KeychaindGcrypt
import KeychaindLanguage
import KeychaindTestSupport

/// A comparable copy of a ``PromptAnswer``.
enum Answer: Hashable, Sendable {
    case password(String)
    case confirmed
    case fallback
    case cancelled
    case withdrawn

    init(_ answer: consuming PromptAnswer) {
        switch consume answer {
        case .password(let bytes): self = .password(bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
        case .confirmed: self = .confirmed
        case .fallback: self = .fallback
        case .cancelled: self = .cancelled
        case .withdrawn: self = .withdrawn
        }
    }
}

extension Prompter {
    /// Opens a dialog without a caller.
    func open() async throws(PromptError) -> any PromptDialog {
        try await open(for: TestRequester(""), asking: .password)
    }
}

extension PromptDialog {
    /// Asks, and returns the answer as a value.
    func answer(_ request: PromptRequest) async throws(PromptError) -> Answer {
        Answer(try await ask(request) {})
    }
}

extension PromptRequest {
    static let unlock = PromptRequest(question: .password, message: "Unlock the keychain")
    static let create = PromptRequest(question: .newPassword, message: "Choose a password")
    static let confirm = PromptRequest(question: .confirmation, message: "Delete the collection?")
    static let touch = PromptRequest(question: .waiting, message: "Touch the reader")
    static let touchOrElse = PromptRequest(question: .waiting, message: "Touch", fallbackLabel: "Enter Password")
}

extension Language {
    /// A language from right to left, without a translation.
    static var rightToLeft: Language {
        Catalogue([0xDE, 0x12, 0x04, 0x95] + Array(repeating: 0, count: 24)).map { Language("ar", $0) } ?? .english
    }
}
