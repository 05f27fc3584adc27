import Foundation
import SecretServiceClient
package import Security

extension LAContext: AuthenticationContextSource {
    /// The settings at the start of a call; a subclass may override its properties.
    package var snapshot: any AuthenticationSnapshot {
        let duration = touchIDAuthenticationAllowableReuseDuration
        let longest = LATouchIDAuthenticationMaximumAllowableReuseDuration
        var settings = ProviderContext.Settings()
        settings.reason = localizedReason
        settings.cancelTitle = localizedCancelTitle ?? ""
        settings.fallbackTitle = localizedFallbackTitle
        // Its own authentication always serves for the maximum.
        settings.reuse = .seconds(longest)
        settings.acceptedAge = duration > 0 ? .seconds(min(duration, longest)) : .zero
        settings.isInteractionAllowed = !interactionNotAllowed
        return ContextSnapshot(settings: settings, state: state)
    }
}

struct ContextSnapshot: AuthenticationSnapshot {
    let settings: ProviderContext.Settings
    let state: ContextState

    var isUsable: Bool { state.isUsable }

    var isInteractionAllowed: Bool { settings.isInteractionAllowed }

    var hasCredential: Bool { state.hasCredential }

    var hasReason: Bool { !settings.reason.isEmpty }

    func context(
        on client: SecretClient,
        reason: String
    ) async throws(SecretServiceError) -> ProviderContext? {
        guard let context = try await state.context(on: client) else { return nil }
        var settings = settings
        if settings.reason.isEmpty { settings.reason = reason }
        try await context.apply(settings)
        return context
    }
}
