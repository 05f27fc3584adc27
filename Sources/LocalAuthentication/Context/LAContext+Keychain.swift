import Foundation
package import SecretServiceClient
import Security

extension LAContext: AuthenticationContextSource {
    /// Whether reads without the context may go by what was proved in it.
    package var keepsGrants: Bool { touchIDAuthenticationAllowableReuseDuration > 0 }

    /// Whether a person may be asked.
    package var isInteractionAllowed: Bool { !interactionNotAllowed }

    /// The provider's context, looking as this one does now.
    package func context(
        on client: SecretClient,
        reason: String
    ) async throws(SecretServiceError) -> AuthenticationContext? {
        guard let context = try await state.context(on: client) else { return nil }
        var settings = AuthenticationContext.Settings()
        settings.reason = localizedReason.isEmpty ? reason : localizedReason
        settings.cancelTitle = localizedCancelTitle ?? ""
        settings.fallbackTitle = localizedFallbackTitle
        let duration = touchIDAuthenticationAllowableReuseDuration
        let longest = LATouchIDAuthenticationMaximumAllowableReuseDuration
        settings.reuse = .seconds(keepsGrants ? min(duration, longest) : longest)
        settings.isInteractionAllowed = isInteractionAllowed
        try await context.apply(settings)
        return context
    }
}
