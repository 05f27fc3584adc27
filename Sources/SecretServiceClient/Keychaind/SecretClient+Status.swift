import KeychaindDBus

/// The state of keychaind, from `org.keychaind.Status1`.
package struct KeychaindStatus: Hashable, Sendable {
    package let version: String
    package let prompters: [String]
    package let isInDomain: Bool
    package let isSessionLocked: Bool
    package let configurationFile: String
    /// The settings in force, as lines of TOML; nil from an earlier version.
    package let settings: [String]?
}

extension SecretClient {
    /// Nil from a provider other than keychaind.
    package func keychaindStatus() async throws(SecretServiceError) -> KeychaindStatus? {
        do throws(SecretServiceError) {
            let values = try await properties(of: Protocol.serviceObject, "org.keychaind.Status1")
            guard !values.string("Version").isEmpty else { return nil }
            guard case .strings(let prompters)? = values["Prompters"] else { return nil }
            return KeychaindStatus(
                version: values.string("Version"),
                prompters: prompters,
                isInDomain: values.boolean("InDomain"),
                isSessionLocked: values.boolean("SessionLocked"),
                configurationFile: values.string("ConfigurationFile"),
                settings: values.strings("Settings")
            )
        } catch  where error.mayBeOfMissingInterface {
            return nil
        }
    }
}

extension SecretClient {
    /// The access groups of this process, its own first; empty without a proven identity, nil from another provider.
    package func accessGroups() async throws(SecretServiceError) -> [String]? {
        do throws(SecretServiceError) {
            return try await properties(of: Protocol.serviceObject, "org.keychaind.Status1").strings("AccessGroups")
        } catch  where error.mayBeOfMissingInterface {
            return nil
        }
    }
}

extension SecretCollection {
    /// The kind of key slot that opened a collection of keychaind, and the fault of its file.
    ///
    /// Nil from another provider.
    package func keychaindState() async throws(SecretServiceError) -> (unlockedBy: String, problem: String)? {
        do throws(SecretServiceError) {
            let values = try await client.properties(of: objectPath, Protocol.keychaindCollection)
            guard values["Problem"] != nil else { return nil }
            return (values.string("UnlockedBy"), values.string("Problem"))
        } catch  where error.mayBeOfMissingInterface {
            return nil
        }
    }
}
