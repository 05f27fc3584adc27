import Foundation
import SecretServiceClient
import Synchronization

/// What an ``LAContext`` remembers, for any thread.
final class ContextState: Sendable {
    /// What a program has set, as it has set it.
    struct Settings {
        var reason = ""
        var cancelTitle: String?
        var fallbackTitle: String?
        var reuseDuration: TimeInterval = 0
        var interactionNotAllowed = false
    }

    private enum Link {
        case unused
        case connected(AuthenticationContext)
        case ended
    }

    private struct Contents {
        var settings = Settings()
        var link = Link.unused
        var biometryType = LABiometryType.none
        var hasLooked = false
    }

    private let contents = Mutex(Contents())

    // MARK: Settings

    var settings: Settings { contents.withLock { $0.settings } }

    /// Changes settings.
    func change(_ change: (inout Settings) -> Void) {
        contents.withLock { change(&$0.settings) }
    }

    // MARK: Availability

    /// What there is to recognise a person by; nothing before somebody has looked.
    var biometryType: LABiometryType { contents.withLock { $0.biometryType } }

    /// Whether a policy has been looked at, or evaluated.
    var hasLooked: Bool { contents.withLock { $0.hasLooked } }

    /// Takes note that a policy was looked at, and of what there is.
    func look(_ found: LABiometryType) {
        contents.withLock { contents in
            contents.hasLooked = true
            contents.biometryType = found
        }
    }

    /// Takes note that a policy was evaluated.
    func markEvaluated() {
        contents.withLock { $0.hasLooked = true }
    }

    // MARK: The provider's context

    /// Throws if the context was invalidated.
    func check() throws(SecretServiceError) {
        let isEnded = contents.withLock { contents in
            if case .ended = contents.link { true } else { false }
        }
        if isEnded { throw .contextEnded }
    }

    /// The provider's context, made when it is first needed and again where provider or connection have changed; nil from a provider
    /// that has none.
    func context(on client: SecretClient) async throws(SecretServiceError) -> AuthenticationContext? {
        try check()
        let current = connected
        if let current, current.client === client, await current.isAlive() { return current }
        guard let made = try await client.makeAuthenticationContext() else { return nil }
        let taken: AuthenticationContext? = contents.withLock { contents in
            switch contents.link {
            case .ended: return nil
            case .connected(let other) where other !== current: return other
            case .unused, .connected:
                contents.link = .connected(made)
                return made
            }
        }
        guard let taken else { throw .contextEnded }
        return taken
    }

    private var connected: AuthenticationContext? {
        contents.withLock { contents in
            if case .connected(let context) = contents.link { context } else { nil }
        }
    }

    /// Ends the context for good, with an evaluation that is under way.
    func invalidate() {
        // At once: a context that an evaluation makes meanwhile is either ended here, or finds that this has ended.
        let link = contents.withLock { contents in
            defer { contents.link = .ended }
            return contents.link
        }
        if case .connected(let context) = link { context.invalidate() }
    }
}
