package import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindModel
import KeychaindVault

/// Notifies the person of reads that a rule reports, and of sandboxes that are not limited yet.
///
/// The reads of a program within a minute are one notification, which grows. An item is told once a day, also across
/// restarts; see decision 0146.
@BusActor
package final class ProgramNotices {
    /// Called with the answer to a notification; without it, reads have no buttons.
    package var onAnswer: (@BusActor (ProgramRead.Answer, ProgramRead) -> Void)?

    /// Called when a person wants to limit a sandbox; without it, there is no button.
    package var onLimit: (@BusActor (_ sandbox: String) -> Void)?

    /// The reads of a program within a minute.
    private struct Round {
        let first: ProgramRead
        var seen: Set<ObjectPath> = []
        /// Not looked at yet.
        var waiting: [ObjectPath] = []
        var told: [ObjectPath] = []
    }

    private let service: NotificationService
    private let vault: Vault
    private var rounds: [String: Round] = [:]
    /// The causes that were reported on ``day``.
    private var told: Set<String> = []
    private var day: UInt64 = 0
    private var unconfirmed: Set<String> = []

    /// Programs beyond it share a notification, so that no flood of names hides one.
    private static let programLimit = 32
    /// Items of a round that are told apart; the others are not counted.
    private static let itemLimit = 1000
    /// Items of a notification that are remembered across restarts, each by a write.
    private static let rememberedItems = 50
    private static let toldLimit = 10_000
    /// Places of `state` for each kind of cause.
    private static let placeCount: UInt64 = 1024
    /// Until the first notification, so that it can say how many.
    private static let gathering = Duration.seconds(1)
    private static let pause = Duration.seconds(10)
    /// The pauses of a round.
    private static let updates = 6

    init(_ service: NotificationService, _ vault: Vault) {
        self.service = service
        self.vault = vault
    }

    // MARK: Reads

    /// Counts a read, and notifies the person soon.
    package func programHasRead(_ read: ProgramRead) {
        var key = read.identity.isEmpty ? read.caller : read.identity
        var read = read
        if rounds[key] == nil, rounds.count >= Self.programLimit {
            key = ""
            read = ProgramRead(identity: "", caller: "", item: read.item, rule: read.rule)
        }
        guard rounds[key] != nil else {
            rounds[key] = Round(first: read, seen: [read.item], waiting: [read.item])
            BusActor.loop.schedule(after: Self.gathering) { [weak self] in self?.update(key, Self.updates) }
            return
        }
        guard rounds[key]?.seen.count ?? 0 < Self.itemLimit, rounds[key]?.seen.insert(read.item).inserted == true
        else { return }
        rounds[key]?.waiting.append(read.item)
    }

    private func update(_ key: String, _ rest: Int) {
        guard rest > 0 else {
            rounds[key] = nil
            return
        }
        BusActor.start { [self] in await tell(key) }
        BusActor.loop.schedule(after: Self.pause) { [weak self] in self?.update(key, rest - 1) }
    }

    private func tell(_ key: String) async {
        guard let waiting = rounds[key]?.waiting, !waiting.isEmpty else { return }
        rounds[key]?.waiting = []
        var new: [ObjectPath] = []
        for item in waiting where await isNew(item, of: key) { new.append(item) }
        guard !new.isEmpty, var round = rounds[key] else { return }
        round.told += new
        rounds[key] = round
        let labels = round.told.prefix(DesktopNotification.shownItems).map(label)
        let actions = round.first.identity.isEmpty ? [] : self.actions(for: round.first)
        let notification = DesktopNotification.reads(round.first, round.told.count, labels, actions)
        service.show(notification, about: "reads \(key)") { [self] in
            for item in new.prefix(Self.rememberedItems) {
                let cause = cause(item, of: key)
                vault.setTold(cause, about: Self.place(of: cause, "read"))
            }
        }
    }

    /// Whether a cause was not reported today, as far as that is remembered.
    private func isNew(_ item: ObjectPath, of key: String) async -> Bool {
        let cause = cause(item, of: key)
        if told.count >= Self.toldLimit { told = [] }
        guard told.insert(cause).inserted else { return false }
        return await !vault.wasTold(cause, about: Self.place(of: cause, "read"))
    }

    private func cause(_ item: ObjectPath, of key: String) -> String {
        let today = Timestamp.now().seconds / 86400
        if today != day { (day, told) = (today, []) }
        return "\(today)\n\(item.rawValue)\n\(key)"
    }

    /// One of a bounded number of places of `state`; a cause that loses its place to another is reported again.
    private static func place(of cause: String, _ kind: String) -> String {
        // FNV-1a: the same in every process, unlike Swift's hashes.
        let hash = cause.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "\(kind)-\(hash % placeCount)"
    }

    private func label(of path: ObjectPath) -> String {
        guard let (collection, id) = vault.findItem(path), let item = collection.item(id) else { return "" }
        return item.label
    }

    private func actions(for read: ProgramRead) -> [DesktopNotification.Action] {
        guard let onAnswer else { return [] }
        return [
            DesktopNotification.Action(Text("That’s fine")) { onAnswer(.fine, read) },
            DesktopNotification.Action(Text("Ask from now on")) { onAnswer(.ask, read) },
        ]
    }

    // MARK: Sandboxes

    /// Notifies a person once of a sandbox that was there before sandboxes were limited.
    package func sandboxIsUnconfirmed(_ sandbox: String) {
        guard unconfirmed.count < Self.itemLimit, unconfirmed.insert(sandbox).inserted else { return }
        let place = Self.place(of: sandbox, "sandbox")
        var actions: [DesktopNotification.Action] = []
        if let onLimit {
            actions = [
                DesktopNotification.Action(Text("Limit it…")) { onLimit(sandbox) },
                // At the next start.
                DesktopNotification.Action(Text("Later")) { [vault] in vault.setTold(nil, about: place) },
            ]
        }
        BusActor.start { [self] in
            guard await !vault.wasTold(sandbox, about: place), unconfirmed.contains(sandbox) else { return }
            service.show(.unconfirmed(sandbox, actions), about: "sandbox \(sandbox)") { [vault] in
                vault.setTold(sandbox, about: place)
            }
        }
    }

    /// Withdraws the notification about a sandbox.
    package func sandboxIsLimited(_ sandbox: String) {
        guard unconfirmed.remove(sandbox) != nil else { return }
        service.withdraw("sandbox \(sandbox)")
    }
}
