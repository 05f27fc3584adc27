/// What is to be done with something that has an access control.
@nonexhaustive
public enum LAAccessControlOperation: Int, Sendable {
    /// Add an item.
    case createItem = 0

    /// Read an item.
    case useItem = 1

    /// Make a key.
    case createKey = 2

    /// Sign with a key.
    case useKeySign = 3

    /// Decrypt with a key.
    case useKeyDecrypt = 4

    /// Agree upon a secret with a key.
    case useKeyKeyExchange = 5
}

extension LAAccessControlOperation {
    /// Whether a person has to prove anything for it: what is added is protected only from then on.
    var needsAuthentication: Bool {
        switch self {
        case .createItem, .createKey: false
        case .useItem, .useKeySign, .useKeyDecrypt, .useKeyKeyExchange: true
        }
    }
}
