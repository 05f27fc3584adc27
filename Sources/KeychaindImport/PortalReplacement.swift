package import KeychaindCommandLine
import KeychaindForeignFiles
import KeychaindGcrypt
import KeychaindLanguage
package import SecretServiceClient

/// One portal secret of a source, for an application that has another one of keychaind.
extension SourceContents {
    /// The portal secret of an application; throws if there is none, or several.
    package func portalSecret(of application: String) throws(CommandFailure) -> PortalSecret {
        let found = portalSecrets.filter { $0.application == application }
        guard let secret = found.first else {
            throw CommandFailure(.notFound, "there is no portal secret of \(application.visible)")
        }
        if let obstacle = secret.obstacle {
            throw CommandFailure(.badData, "the portal secret of \(application.visible): \(obstacle)")
        }
        guard found.allSatisfy({ $0.item.item.secret.isEqual(to: secret.item.item.secret) }) else {
            throw CommandFailure(
                .ambiguous,
                "there are several portal secrets of \(application.visible); name the file of one"
            )
        }
        return secret
    }
}

extension PortalSecret {
    /// Gives the application this secret in place of the one of keychaind; false if it has this one.
    package func replace(in client: SecretClient) async throws(SecretServiceError) -> Bool {
        try await client.replacePortalSecret(with: try Secret(copyOf: item), for: application)
    }
}
