import Foundation
import SecretServiceClient
import Security
import Synchronization

/// The state of an ``LAContext``, usable from any thread.
final class ContextState: Sendable {
    /// The settings of the program, unchanged.
    struct Settings {
        var reason = ""
        var cancelTitle: String?
        var fallbackTitle: String?
        var reuseDuration: TimeInterval = 0
        var interactionNotAllowed = false
    }

    private enum Link {
        case unused
        case connected(ProviderContext)
        case ended
    }

    private struct Contents {
        var settings = Settings()
        var link = Link.unused
        var biometryType = LABiometryType.none
        var wasChecked = false
        /// The application password, overwritten with its last reference; nil for none.
        var credential: SharedSecret?
        /// The provider's context that has it.
        weak var holder: ProviderContext?
        /// Whether any was ever supplied.
        var wasSupplied = false
    }

    private let contents = Mutex(Contents())

    // MARK: Settings

    var settings: Settings { contents.withLock { $0.settings } }

    func change(_ change: (inout Settings) -> Void) {
        contents.withLock { change(&$0.settings) }
    }

    // MARK: The application password

    var hasCredential: Bool { contents.withLock { $0.credential != nil } }

    func setCredential(_ credential: SharedSecret?) {
        contents.withLock { contents in
            contents.credential = credential
            contents.holder = nil
        }
    }

    /// Gives the provider's context the application password, unless it has it.
    private func supplyCredential(to context: ProviderContext) async throws(SecretServiceError) {
        let (credential, isSupplied, wasSupplied) = contents.withLock { contents in
            (contents.credential, contents.holder === context, contents.wasSupplied)
        }
        guard !isSupplied, credential != nil || wasSupplied else { return }
        if let credential {
            try await context.setCredential(credential.secret)
        } else {
            try await context.setCredential(try Secret([]))
        }
        contents.withLock { contents in
            contents.holder = contents.credential === credential ? context : nil
            contents.wasSupplied = true
        }
    }

    // MARK: Availability

    /// `none` before the first check.
    var biometryType: LABiometryType { contents.withLock { $0.biometryType } }

    /// Whether a policy was checked or evaluated.
    var wasChecked: Bool { contents.withLock { $0.wasChecked } }

    func recordCheck(found: LABiometryType) {
        contents.withLock { contents in
            contents.wasChecked = true
            contents.biometryType = found
        }
    }

    func recordEvaluation() {
        contents.withLock { $0.wasChecked = true }
    }

    // MARK: The provider's context

    /// Whether the context was not invalidated.
    var isUsable: Bool {
        contents.withLock { contents in
            if case .ended = contents.link { false } else { true }
        }
    }

    func check() throws(SecretServiceError) {
        if !isUsable { throw .contextEnded }
    }

    /// The provider's context; nil from a provider without authentication.
    ///
    /// Created on first use, and again when the provider or the connection has changed.
    func context(on client: SecretClient) async throws(SecretServiceError) -> ProviderContext? {
        guard let context = try await plainContext(on: client) else { return nil }
        try await supplyCredential(to: context)
        return context
    }

    private func plainContext(on client: SecretClient) async throws(SecretServiceError) -> ProviderContext? {
        try check()
        let current = connected
        if let current, current.client === client, await current.isAlive() { return current }
        guard let made = try await client.makeAuthenticationContext() else { return nil }
        let taken: ProviderContext? = contents.withLock { contents in
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

    private var connected: ProviderContext? {
        contents.withLock { contents in
            if case .connected(let context) = contents.link { context } else { nil }
        }
    }

    /// Ends the context and a running evaluation, permanently.
    func invalidate() {
        // Immediately: a context that an evaluation creates meanwhile either ends here, or finds the end.
        let link = contents.withLock { contents in
            defer { contents.link = .ended }
            contents.credential = nil
            return contents.link
        }
        if case .connected(let context) = link { context.invalidate() }
    }
}
