import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindVault

/// Asks a person when a selected program reads a locked item, as if it had called Unlock and run the prompt.
///
/// For programs that do not know Unlock (docs/decisions/0127-a-read-asks-if-a-person-wants-that.md).
@BusActor
final class ReadPrompts {
    var programs = ProgramSelection()

    private let unlocking: Unlocking
    private let limits: ServiceLimits

    nonisolated init(unlocking: Unlocking, limits: ServiceLimits) {
        self.unlocking = unlocking
        self.limits = limits
    }

    /// Whether the read of an item may wait for a prompt.
    ///
    /// A dialog would be behind a locked screen, and no password opens what is damaged. Programs that handle
    /// `IsLocked` set `NO_AUTO_START`.
    func areUseful(for call: MethodCall, reading id: ItemID, in collection: Collection) -> Bool {
        !unlocking.access.isOpen(collection) && !programs.isEmpty && !call.message.forbidsActivation
            && areUseful(for: id, in: collection, by: call.client)
    }

    private func areUseful(for id: ItemID, in collection: Collection, by client: Client) -> Bool {
        // A person may have limited the program since its call.
        guard !unlocking.access.isSessionLocked, client.sees(id, in: collection) else { return false }
        if case .unreadable = collection.state { return false }
        return switch unlocking.access.verdict(on: id, in: collection, for: client) {
        case .needsAuthentication, .needsConfirmation: true
        case .unavailable(.collectionLocked): collection.isLocked
        case .open, .granted, .unavailable: false
        }
    }

    /// Asks for access to an item, if its reader is selected; the caller tries the read in any case.
    ///
    /// Later reads of the same item by the same client wait for the same dialog.
    func ask(for id: ItemID, in collection: Collection, by client: Client) async {
        guard programs.contains(await client.caller()), client.isConnected else { return }
        let item = ItemReference(id, in: collection)
        if let prompt = client.reads.prompts[item] { return await prompt.end.wait() }
        guard areUseful(for: id, in: collection, by: client), client.reads.prompts.count < limits.readPrompts,
            !client.reads.isPaused
        else { return }
        let end = Promise<Void>()
        await client.asking { conversation in
            client.reads.prompts[item] = PendingReads.Prompt(end: end, conversation: conversation)
            await run(conversation, for: id, in: collection, by: client)
            client.reads.prompts[item] = nil
        }
        end.fulfill()
    }

    private func run(
        _ conversation: Conversation,
        for id: ItemID,
        in collection: Collection,
        by client: Client
    ) async {
        let timeout = BusActor.loop.schedule(after: limits.readPromptTime) {
            conversation.end(.bySystem(reason: "nobody has answered in time"))
        }
        defer { BusActor.loop.cancel(timeout) }
        let request = UnlockPrompt.Request(path: .item(id, in: collection.name), collection: collection, item: id)
        let prompt = UnlockPrompt([request], for: client, unlocking: unlocking)
        // What ends it from outside, such as a locked screen, is no refusal.
        guard await prompt.perform(asking: conversation, for: client).isDismissed, conversation.cancellation == nil
        else { return }
        client.reads.pause(for: limits.readPromptPause)
    }
}

/// The reads of a client that wait for a prompt.
@BusActor
final class PendingReads {
    struct Prompt {
        let end: Promise<Void>
        let conversation: Conversation
    }

    fileprivate(set) var prompts: [ItemReference: Prompt] = [:]

    /// Whether a person has just refused: a program that reads many items, or one again and again, asks no more.
    fileprivate var isPaused: Bool { pauseEnd != nil }

    private var pauseEnd: Timer?

    nonisolated init() {}

    /// Ends the other prompts, and allows none for a time.
    fileprivate func pause(for time: Duration) {
        for prompt in prompts.values { prompt.conversation.end() }
        pauseEnd.map(BusActor.loop.cancel)
        pauseEnd = BusActor.loop.schedule(after: time) { [weak self] in self?.pauseEnd = nil }
    }
}
