import KeychaindAuthentication
import KeychaindDBus
import KeychaindVault

/// The open prompts of a client, and the conversations of its calls.
struct ClientPrompts {
    fileprivate var table: [ObjectNumber: Prompt] = [:]
    /// Prompts that are completed for the client, but whose actions have not ended.
    fileprivate var abandoned: [ObjectNumber: Prompt] = [:]
    fileprivate var conversations: [ObjectIdentifier: Conversation] = [:]

    var numbers: some Sequence<ObjectNumber> { table.keys }

    subscript(number: ObjectNumber) -> Prompt? { table[number] }

    /// Those that count for the limits, with what they keep.
    var count: Int { table.count + abandoned.count }
    @BusActor var keptBytes: Int { [table, abandoned].joined().reduce(0) { $0 + $1.value.keptBytes } }

    /// Whether the client waits for a `Completed`.
    @BusActor var areRunning: Bool { table.values.contains { !$0.isCreated } }
}

extension Client {
    /// Creates a prompt; throws `LimitsExceeded` past the limits of number and bytes.
    func makePrompt(_ action: any PromptAction) throws(BusError) -> ObjectPath {
        let limits = environment.limits
        let most = limits.prompts * limits.timesForProgram
        guard prompts.count < limits.prompts, account.count({ $0.prompts.count }) < most else {
            throw BusError(.limitsExceeded, "you already have \(limits.prompts) open prompts, or your program \(most)")
        }
        let mostBytes = limits.bytesInPrompts * limits.timesForProgram
        guard action.keptBytes + prompts.keptBytes <= limits.bytesInPrompts,
            action.keptBytes + account.count({ $0.prompts.keptBytes }) <= mostBytes
        else {
            throw BusError(
                .limitsExceeded,
                "your open prompts may keep \(limits.bytesInPrompts) bytes together, and no more"
            )
        }
        let prompt = Prompt(action, of: self)
        prompts.table[prompt.number] = prompt
        return .prompt(prompt.number)
    }

    /// Removes a completed prompt, and sends `Completed` to the client alone (#119, #127).
    func complete(_ prompt: Prompt, _ outcome: PromptOutcome) {
        let signal = Message.signal(.prompt(prompt.number), InterfaceName.prompt, "Completed", to: name)
        signal.append(outcome.isDismissed, outcome.result)
        environment.connection.send(signal)
        prompts.table[prompt.number] = nil
        if !prompts.areRunning { sendDeferredSignals() }
    }

    /// Completes a prompt whose action has not ended; it counts until ``forget(_:)``.
    func abandon(_ prompt: Prompt, _ outcome: PromptOutcome) {
        complete(prompt, outcome)
        prompts.abandoned[prompt.number] = prompt
    }

    func forget(_ prompt: Prompt) {
        prompts.abandoned[prompt.number] = nil
    }

    /// Dismisses the prompt that restores a backup, unless it has been run; false if there is none.
    func dismissUnrun(restoring backup: StagedBackup) -> Bool {
        let prompt = prompts.table.values.first { $0.isCreated && $0.backup === backup }
        guard let prompt else { return false }
        prompt.dismiss()
        return true
    }

    /// Creates a conversation, to be ended by its creator.
    func makeConversation(windowID: String = "") -> Conversation {
        environment.questions.makeConversation(for: self, windowID: windowID)
    }

    /// Runs a call that waits for a person; its conversation ends with the call, the client or ``endDialogs(_:)``.
    func asking<Result, Failure: Error>(
        _ body: (Conversation) async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let conversation = makeConversation()
        // It may have left since its call.
        if !isConnected { conversation.end() }
        prompts.conversations[ObjectIdentifier(conversation)] = conversation
        defer {
            prompts.conversations[ObjectIdentifier(conversation)] = nil
            conversation.end()
        }
        return try await body(conversation)
    }

    func endDialogs(_ cancellation: Cancellation) {
        for prompt in prompts.table.values where !prompt.isCreated { prompt.dismiss(cancellation) }
        for conversation in prompts.conversations.values { conversation.end(cancellation) }
    }

    /// Dismisses all prompts, those that have not been run too, and ends the dialogs of calls.
    func dismissAll(_ cancellation: Cancellation) {
        for prompt in prompts.table.values where prompt.isCreated { prompt.dismiss(cancellation) }
        endDialogs(cancellation)
    }

    /// Dismisses the prompts of a context that ends.
    func dismissPrompts(of context: AuthenticationContext) {
        for prompt in prompts.table.values where prompt.context === context { prompt.dismiss() }
    }

    /// Ends all prompts and conversations of a client that has left.
    func dropDialogs() {
        deferredSignals = []
        prompts.conversations.values.forEach { $0.end() }
        prompts.conversations = [:]
        prompts.table.values.forEach { $0.dismiss() }
    }
}

/// Signals of changes that are sent to a client alone.
extension Client {
    /// Sends a signal to the client.
    typealias Signal = @BusActor (Client) -> Void

    /// With more of them, none waits.
    private static let mostDeferred = 256

    /// Sends a signal; after `Completed` if the client waits for that.
    ///
    /// A program without match rules expects no other signal, and go-keyring takes the first one for the end of its
    /// prompt. A program that caches properties gets all signals at once: libsecret reads its cache after `Completed`.
    func deliver(_ signal: @escaping Signal) {
        guard !cachesProperties, prompts.areRunning, deferredSignals.count < Client.mostDeferred else {
            sendDeferredSignals()
            return signal(self)
        }
        deferredSignals.append(signal)
    }

    func sendDeferredSignals() {
        guard !deferredSignals.isEmpty else { return }
        let signals = deferredSignals
        deferredSignals = []
        for signal in signals { signal(self) }
    }
}
