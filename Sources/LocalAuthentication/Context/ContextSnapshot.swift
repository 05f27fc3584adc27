import SecretServiceClient
import Security

/// An ``LAContext`` as it was when a call began.
struct ContextSnapshot: AuthenticationSnapshot {
    let keepsGrants: Bool
    let settings: AuthenticationContext.Settings
    let state: ContextState

    var isInteractionAllowed: Bool { settings.isInteractionAllowed }

    func context(
        on client: SecretClient,
        reason: String
    ) async throws(SecretServiceError) -> AuthenticationContext? {
        guard let context = try await state.context(on: client) else { return nil }
        var settings = settings
        if settings.reason.isEmpty { settings.reason = reason }
        try await context.apply(settings)
        return context
    }
}
