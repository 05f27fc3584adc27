import DBus

extension SecretClient {
    /// Calls the provider.
    func call(_ message: Message, to owner: String? = nil) async throws(SecretServiceError) -> Message {
        try await onLink(
            { (link) throws(SecretServiceError) in try await link.call(message, to: owner) },
            // Either may hold a secret.
            abandon: { reply in
                reply.wipeByteArrays()
                message.wipeByteArrays()
            }
        )
    }

    /// Shows a prompt and waits for its result.
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

    /// Calls, and completes the prompt that the answer may name.
    ///
    /// - Parameter read: takes the answer apart, into what was done at once and the prompt for the rest.
    /// - Returns: what was done at once, and the prompt's result if there was one.
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

    /// Deletes an object.
    func delete(
        _ path: ObjectPath,
        _ interface: String,
        _ prompting: SecretPrompting
    ) async throws(SecretServiceError) {
        let message = Protocol.call(path, interface, "Delete")
        _ = try await callWithPrompt(message, prompting) { (reply) throws(SecretServiceError) in
            ((), prompt: try reply.reading(ObjectPath.self))
        }
    }

    // MARK: Sessions

    /// The session for secrets; opened by the first who needs one.
    func session() async throws(SecretServiceError) -> ProviderSession {
        try await onLink { (link) throws(SecretServiceError) in try await link.openSession() }
    }

    /// Sends a call in which a secret travels; where the object turns out to be locked, unlocks it and tries once more, and where the
    /// provider has forgotten the session opens another.
    ///
    /// - Parameter makeCall: called for each try, since a call belongs to a session.
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
            do throws(SecretServiceError) {
                let reply = try await call(message, to: session.owner)
                // Answered, so it has been sent; in a plain session it holds the secret itself.
                message.wipeByteArrays()
                return (reply, session)
            } catch {
                // Without an answer it may still be waiting to be sent.
                if error.endsCall { message.wipeByteArrays() }
                switch error.code {
                case .noSession where mayRenewSession:
                    mayRenewSession = false
                    try await onLink { (link) throws(SecretServiceError) in link.forget(session) }
                case .locked where mayUnlock:
                    mayUnlock = false
                    try await object.unlock(prompting: prompting)
                default:
                    throw error
                }
            }
        }
    }

    // MARK: Properties

    /// Reads a property of one known type.
    func property<Value: BusValue & Sendable>(
        _ name: String,
        of path: ObjectPath,
        _ interface: String
    ) async throws(SecretServiceError) -> Value {
        let message = Protocol.call(path, StandardInterface.properties, "Get")
        message.append(interface, name)
        let reply = try await call(message)
        do throws(BusError) {
            var reader = reply.makeReader()
            return try reader.readVariant(of: Value.self)
        } catch {
            throw SecretServiceError(reading: error)
        }
    }

    /// Reads all properties of an interface.
    func properties(of path: ObjectPath, _ interface: String) async throws(SecretServiceError) -> [String: Variant] {
        let message = Protocol.call(path, StandardInterface.properties, "GetAll")
        message.append(interface)
        return try await call(message).reading([String: Variant].self)
    }

    /// Changes a property.
    func setProperty(
        _ name: String,
        of path: ObjectPath,
        _ interface: String,
        to value: Variant
    ) async throws(SecretServiceError) {
        let message = Protocol.call(path, StandardInterface.properties, "Set")
        message.append(interface, name, value)
        _ = try await call(message)
    }
}
