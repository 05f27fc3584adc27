import DBus

extension ProviderLink {
    /// Shows a prompt, and waits until it is completed.
    ///
    /// It is dismissed when the time is up or the task cancelled. Throws ``SecretServiceError/Code/dismissed`` when a person has said
    /// no.
    ///
    /// - Parameter owner: the provider whose prompt it is.
    /// - Returns: the result, of the type that the operation has.
    func complete(
        _ prompt: ObjectPath,
        of owner: String,
        _ prompting: SecretPrompting
    ) async throws(SecretServiceError) -> Variant {
        guard prompting.isAllowed else {
            send(Protocol.call(prompt, Protocol.prompt, "Dismiss"), to: owner)
            throw SecretServiceError(.interactionNotAllowed, "a prompt would have to be shown")
        }
        guard owner == self.owner else { throw .providerGone }
        let completion = Settlement<Variant>()
        // Before it is shown: it may be completed before the answer to that is here (spec #124).
        let subscription = connection.subscribe(
            to: SignalMatch(sender: owner, path: prompt, interface: Protocol.prompt, member: "Completed")
        ) { completion.settle(ProviderLink.outcome(of: $0)) }
        let watcher = watchOwner { completion.settle(.failure($0)) }
        let timer = prompting.timeout.map {
            BusActor.loop.schedule(after: $0) { completion.settle(.failure(.timedOut("a prompt"))) }
        }
        defer {
            connection.unsubscribe(subscription)
            unwatchOwner(watcher)
            if let timer { BusActor.loop.cancel(timer) }
        }
        do throws(SecretServiceError) {
            let message = Protocol.call(prompt, Protocol.prompt, "Prompt")
            message.append(prompting.window)
            _ = try await call(message, to: owner)
            return try await completion.value()
        } catch {
            if error != .dismissed {
                send(Protocol.call(prompt, Protocol.prompt, "Dismiss"), to: owner)
            }
            throw error
        }
    }

    private nonisolated static func outcome(of signal: Message) -> Result<Variant, SecretServiceError> {
        do throws(BusError) {
            let (isDismissed, result) = try signal.read(Bool.self, Variant.self)
            return isDismissed ? .failure(.dismissed) : .success(result)
        } catch {
            return .failure(SecretServiceError(reading: error))
        }
    }
}
