import DBus

/// The prompts of all callers that are not completed.
struct PromptTable {
    private var prompts: [ObjectNumber: Prompt] = [:]
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// Adds a prompt; throws `LimitsExceeded` if its owner has too many.
    mutating func insert(_ prompt: Prompt) throws(BusError) {
        guard numbers(of: prompt.owner).count < limit else {
            throw BusError(.limitsExceeded, "\(limit) prompts of yours are open already")
        }
        prompts[prompt.number] = prompt
    }

    /// The prompt, if it is the caller's: somebody else's does not exist for them (#121).
    func prompt(_ number: ObjectNumber, of caller: String) -> Prompt? {
        guard let prompt = prompts[number], prompt.owner == caller else { return nil }
        return prompt
    }

    func prompts(of owner: String) -> [Prompt] {
        prompts.values.filter { $0.owner == owner }
    }

    func numbers(of owner: String) -> [ObjectNumber] {
        prompts(of: owner).map(\.number)
    }

    /// Ends all that are being asked about.
    @BusActor
    func dismissRunning() {
        for prompt in prompts.values where !prompt.isCreated {
            prompt.dismiss()
        }
    }

    mutating func remove(_ prompt: Prompt) {
        prompts[prompt.number] = nil
    }
}
