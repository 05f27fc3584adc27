import KeychaindForeignFiles
import KeychaindLanguage
import SecretServiceClient

/// Hands portal secrets to keychaind's portal.
///
/// They cannot be read back: keychaind's answer is the verification.
struct PortalSecretWriter: Sendable {
    let keychains: TargetKeychains
    /// The password of the source's keychain, with which a missing `login` is created.
    let password: Password?
    /// Whether the import has opened `login` before, or has failed to.
    let hasTriedLogin: Bool

    func write(_ secrets: [PortalSecret], _ report: inout ImportReport) async throws {
        guard !secrets.isEmpty else { return }
        guard try await opensLogin() else {
            let reason = Text("keychaind's keychain “\(TargetKeychains.login)” stayed locked")
            return report.leave(secrets.map { $0.left(reason) })
        }
        for secret in secrets {
            try Task.checkCancellation()
            if let obstacle = secret.obstacle {
                report.leave([secret.left(obstacle)])
                continue
            }
            do throws(SecretServiceError) {
                if try await write(secret) { report.copied += 1 } else { report.same += 1 }
                report.verified += 1
            } catch {
                guard PortalSecretWriter.concernsSecret(error) else { throw error }
                report.leave([secret.left(PortalSecretWriter.reason(of: error))])
            }
        }
    }

    /// Whether keychaind did not have the secret yet.
    private func write(_ secret: PortalSecret) async throws(SecretServiceError) -> Bool {
        let copy = try Secret(copyOf: secret.item)
        return try await keychains.target.client.importPortalSecret(copy, for: secret.application)
    }

    private func opensLogin() async throws -> Bool {
        let name = TargetKeychains.login
        guard !hasTriedLogin else {
            guard let login = try await keychains.target.client.collection(alias: name) else { return false }
            return try await !login.isLocked()
        }
        switch try await keychains.find(name, password: password) {
        case .unlocked: return true
        case .missing: return try await keychains.create(name, password: password) != nil
        case .locked: return false
        }
    }

    private static func reason(of error: SecretServiceError) -> Text {
        guard error.code == .alreadyExists else { return Text(verbatim: error.reason) }
        return Text("\(error.reason); “keychainctl portal-secret replace” says what another one costs")
    }

    private static func concernsSecret(_ error: SecretServiceError) -> Bool {
        // A keychaind of an earlier version has no such object.
        error.code == .alreadyExists || error.code == .noSuchObject || ItemWriter.concernsItem(error)
    }
}
