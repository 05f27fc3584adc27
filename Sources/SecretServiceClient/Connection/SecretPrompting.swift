import KeychaindDBus

/// Whether and how a person may be asked.
public struct SecretPrompting: Hashable, Sendable {
    /// Whether prompts may be shown.
    public var isAllowed: Bool

    /// The parent window of prompts: `x11:` and its number in hexadecimal, or `wayland:` and an exported handle; empty
    /// for none.
    public var window: String

    /// The time limit of a prompt; nil for none.
    ///
    /// After it, the prompt is dismissed, and the call fails with ``SecretServiceError/Code/timedOut``.
    public var timeout: Duration?

    /// Allows prompts.
    public init(window: String = "", timeout: Duration? = .seconds(300)) {
        isAllowed = true
        self.window = window
        self.timeout = timeout
    }

    /// Prompts without a parent window, for at most five minutes.
    public static let shown = SecretPrompting()

    /// No prompts: calls that need one fail with ``SecretServiceError/Code/interactionNotAllowed``.
    public static let never: SecretPrompting = {
        var prompting = SecretPrompting()
        prompting.isAllowed = false
        return prompting
    }()
}

extension ProviderLink {
    /// Shows a prompt, and waits until it is completed.
    ///
    /// Dismisses it at the time limit or the cancellation of the task; throws ``SecretServiceError/Code/dismissed`` if
    /// the person refuses. The type of the result depends on the operation.
    func complete(
        _ prompt: ObjectPath,
        of owner: String,
        _ prompting: SecretPrompting
    ) async throws(SecretServiceError) -> Variant {
        guard prompting.isAllowed else {
            send(Protocol.call(prompt, Protocol.prompt, "Dismiss"), to: owner)
            throw SecretServiceError(.interactionNotAllowed, "the provider has to show a prompt")
        }
        guard owner == self.owner else { throw .providerGone }
        let completion = Promise<Result<Variant, SecretServiceError>>()
        // Subscribes first: the prompt may be completed before the reply to `Prompt` arrives (spec #124).
        let subscription = connection.subscribe(
            to: SignalMatch(sender: owner, path: prompt, interface: Protocol.prompt, member: "Completed")
        ) { completion.fulfill(ProviderLink.outcome(of: $0)) }
        let watcher = watchOwner { completion.fulfill(.failure($0)) }
        let timer = prompting.timeout.map {
            BusActor.loop.schedule(after: $0) { completion.fulfill(.failure(.timedOut("a prompt"))) }
        }
        defer {
            connection.unsubscribe(subscription)
            unwatchOwner(watcher)
            if let timer { BusActor.loop.cancel(timer) }
        }
        do throws(SecretServiceError) {
            _ = try await call(Protocol.call(prompt, Protocol.prompt, "Prompt", prompting.window), to: owner)
            return try await completion.get()
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
            guard isDismissed else { return .success(result) }
            // keychaind says why a change of key slots failed; a person's refusal has no reason.
            if case .string(let reason) = result, !reason.isEmpty { return .failure(.init(.notSupported, reason)) }
            return .failure(.dismissed)
        } catch {
            return .failure(SecretServiceError(reading: error))
        }
    }
}
