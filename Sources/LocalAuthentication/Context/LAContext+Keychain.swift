import Foundation
import SecretServiceClient
package import Security

extension LAContext: AuthenticationContextSource {
    /// How the context is now; its properties may be a subclass's.
    package var snapshot: any AuthenticationSnapshot {
        let duration = touchIDAuthenticationAllowableReuseDuration
        let longest = LATouchIDAuthenticationMaximumAllowableReuseDuration
        let keepsGrants = duration > 0
        var settings = AuthenticationContext.Settings()
        settings.reason = localizedReason
        settings.cancelTitle = localizedCancelTitle ?? ""
        settings.fallbackTitle = localizedFallbackTitle
        // The context itself is asked again only after the longest time, whatever reads without it may use.
        settings.reuse = .seconds(longest)
        settings.grants = .seconds(keepsGrants ? min(duration, longest) : longest)
        settings.isInteractionAllowed = !interactionNotAllowed
        return ContextSnapshot(keepsGrants: keepsGrants, settings: settings, state: state)
    }
}
