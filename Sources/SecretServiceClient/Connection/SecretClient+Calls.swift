import KeychaindDBus

extension SecretClient {
    func call(_ message: Message, to owner: String? = nil) async throws(SecretServiceError) -> Message {
        try await onLink(
            { (link) throws(SecretServiceError) in try await link.call(message, to: owner) },
            // Both may contain a secret.
            abandon: { reply in
                reply.wipeByteArrays()
                message.wipeByteArrays()
            }
        )
    }

    /// Makes a call that brings a secret, and overwrites it.
    func callWithSecret(_ message: Message, to owner: String) async throws(SecretServiceError) -> Message {
        do throws(SecretServiceError) {
            let reply = try await call(message, to: owner)
            // An unencrypted message contains the secret itself.
            message.wipeByteArrays()
            return reply
        } catch {
            // Without a reply, the message may still be queued.
            if error.endsCall { message.wipeByteArrays() }
            throw error
        }
    }

    func complete(
        _ prompt: ObjectPath,
        of owner: String,
        _ prompting: SecretPrompting
    ) async throws(SecretServiceError) -> Variant {
        try ArgumentCheck.check(prompting.window)
        return try await onLink { (link) throws(SecretServiceError) in
            try await link.complete(prompt, of: owner, prompting)
        }
    }

    /// Calls the provider, and completes the prompt of the reply, if any.
    ///
    /// - Parameter read: reads the reply: the immediate result, and the prompt.
    func callWithPrompt<Value: Sendable>(
        _ message: Message,
        _ prompting: SecretPrompting,
        _ read: @escaping @Sendable (Message) throws(SecretServiceError) -> (Value, prompt: ObjectPath)
    ) async throws(SecretServiceError) -> (Value, prompted: Variant?) {
        try ArgumentCheck.check(prompting.window)
        return try await onLink { (link) throws(SecretServiceError) in
            let owner = try await link.provider()
            let (value, prompt) = try read(try await link.call(message, to: owner))
            guard prompt != .root else { return (value, nil) }
            return (value, try await link.complete(prompt, of: owner, prompting))
        }
    }

    /// Calls a method that returns only a prompt, and completes it; nil if there was none.
    func callWithPrompt(
        _ message: Message,
        _ prompting: SecretPrompting = .shown
    ) async throws(SecretServiceError) -> Variant? {
        let (_, prompted) = try await callWithPrompt(message, prompting) { (reply) throws(SecretServiceError) in
            ((), prompt: try reply.reading(ObjectPath.self))
        }
        return prompted
    }

    func delete(
        _ path: ObjectPath,
        _ interface: String,
        _ prompting: SecretPrompting
    ) async throws(SecretServiceError) {
        _ = try await callWithPrompt(Protocol.call(path, interface, "Delete"), prompting)
    }

    // MARK: Sessions

    /// Opened on first use.
    func session() async throws(SecretServiceError) -> ProviderSession {
        try await onLink { (link) throws(SecretServiceError) in try await link.openSession() }
    }

    /// Sends a call with a secret.
    ///
    /// Unlocks a locked object, and renews a session that the provider no longer knows, once each; `makeCall` builds
    /// the message for each try.
    func unlocking(
        _ object: some SecretObject,
        _ prompting: SecretPrompting,
        _ makeCall: (ProviderSession) throws(SecretServiceError) -> Message
    ) async throws(SecretServiceError) -> (reply: Message, session: ProviderSession) {
        var mayRenewSession = true
        var mayUnlock = prompting.isAllowed
        while true {
            let session = try await session()
            let message = try makeCall(session)
            // Unlocking is ours: keychaind does not ask a person at such a read (`ask-at-read`).
            message.forbidActivation()
            do throws(SecretServiceError) {
                return (try await callWithSecret(message, to: session.owner), session)
            } catch {
                switch error.code {
                case .noSession where mayRenewSession:
                    mayRenewSession = false
                    try await onLink { (link) throws(SecretServiceError) in link.forget(session) }
                case .locked where mayUnlock:
                    mayUnlock = false
                    try await unlock(object, prompting)
                default:
                    throw error
                }
            }
        }
    }

    /// Unlocks an object; a collection in a context of keychaind, which says why it could not ask a person.
    private func unlock(
        _ object: some SecretObject,
        _ prompting: SecretPrompting
    ) async throws(SecretServiceError) {
        guard let collection = object as? SecretCollection, let context = try await contextIfOneIsLeft() else {
            return try await object.unlock(prompting: prompting)
        }
        try await context.unlock(collection, prompting: prompting)
    }

    /// Nil also if the program holds as many contexts as the provider lets it.
    private func contextIfOneIsLeft() async throws(SecretServiceError) -> ProviderContext? {
        do throws(SecretServiceError) {
            return try await makeAuthenticationContext()
        } catch  where error.code == .limitExceeded {
            return nil
        }
    }

    // MARK: Properties

    func property<Value: BusValue & Sendable>(
        _ name: String,
        of path: ObjectPath,
        _ interface: String
    ) async throws(SecretServiceError) -> Value {
        let reply = try await call(Protocol.call(path, StandardInterface.properties, "Get", interface, name))
        do throws(BusError) {
            var reader = reply.makeReader()
            return try reader.readVariant(of: Value.self)
        } catch {
            throw SecretServiceError(reading: error)
        }
    }

    func properties(of path: ObjectPath, _ interface: String) async throws(SecretServiceError) -> [String: Variant] {
        let message = Protocol.call(path, StandardInterface.properties, "GetAll", interface)
        return try await call(message).reading([String: Variant].self)
    }

    func setProperty(
        _ name: String,
        of path: ObjectPath,
        _ interface: String,
        to value: Variant
    ) async throws(SecretServiceError) {
        _ = try await call(Protocol.call(path, StandardInterface.properties, "Set", interface, name, value))
    }
}
