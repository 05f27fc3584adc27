import Authentication
import DBus

/// The prompts of all callers that are not completed.
struct PromptTable {
    private var prompts: [ObjectNumber: Prompt] = [:]
    private let limit: Int
    private let byteLimit: Int

    /// - Parameters:
    ///   - limit: how many prompts of a caller may be open.
    ///   - byteLimit: how many bytes they may keep together that their caller has sent.
    init(limit: Int, byteLimit: Int) {
        self.limit = limit
        self.byteLimit = byteLimit
    }

    /// Adds a prompt; throws `LimitsExceeded` if its owner has too many, or they keep too much.
    @BusActor
    mutating func insert(_ prompt: Prompt) throws(BusError) {
        let others = prompts(of: prompt.owner)
        guard others.count < limit else {
            throw BusError(.limitsExceeded, "you already have \(limit) open prompts")
        }
        guard others.reduce(prompt.keptBytes, { $0 + $1.keptBytes }) <= byteLimit else {
            throw BusError(.limitsExceeded, "your open prompts may keep \(byteLimit) bytes together, and no more")
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
    func dismissRunning(_ withdrawal: Withdrawal) {
        for prompt in prompts.values where !prompt.isCreated {
            prompt.dismiss(withdrawal)
        }
    }

    mutating func remove(_ prompt: Prompt) {
        prompts[prompt.number] = nil
    }
}
