import Authentication

/// What a person answers in a ``FakeDialog``.
enum FakeAnswer: Sendable {
    case text(String)
    case fallback
    case cancelled
    case withdrawn
    case failed(AuthenticationError)
}
