import DBus

/// How a prompt has ended.
///
/// The result is always of the type that success has: libsecret waits for ever for anything else (#123).
enum PromptOutcome {
    case done(Variant)
    case dismissed(Variant)

    var isDismissed: Bool {
        if case .dismissed = self { true } else { false }
    }

    var result: Variant {
        switch self {
        case .done(let result), .dismissed(let result): result
        }
    }
}
