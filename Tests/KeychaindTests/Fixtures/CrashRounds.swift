import Foundation
import KeychaindDBus
import KeychaindTestSupport

/// Repeatedly writes to a daemon, kills it, restarts it and checks the store.
@BusActor
final class CrashRounds {
    /// The time of the kill.
    private enum Moment {
        /// After this many acknowledged changes, during others.
        case afterReplies(Int)
        /// After this many answered Pings, during any step of the changes.
        case afterPings(Int)
    }

    private static let changesPerRound = 8

    private let daemon: KeychainDaemon
    private var random: SeededGenerator
    private var ledger = Ledger()
    private var keyCount = 0

    /// The number of acknowledged changes in all rounds.
    private(set) var acknowledgements = 0

    init(on daemon: KeychainDaemon, seed: UInt64) {
        self.daemon = daemon
        random = SeededGenerator(seed: seed)
    }

    /// Runs one round, with a running daemon before and after; returns the differences.
    func run() async throws -> [String] {
        try await writeAndKill()
        try await daemon.start()
        return ledger.settle(try await contents())
    }

    // MARK: Writing

    private func writeAndKill() async throws {
        let client = try SecretServiceProxy(on: daemon.bus)
        let session = try await client.openPlainSession()
        let moment = nextMoment()
        let replies = Recorder<Bool>()
        let changes = nextChanges()
        for (key, content) in changes {
            ledger.began(key, content)
        }
        try await withThrowingTaskGroup { group in
            for (key, content) in changes {
                group.addTask {
                    let succeeded = await self.apply(key, content, client, session)
                    replies.record(succeeded)
                }
            }
            switch moment {
            case .afterReplies(let count):
                for index in 0..<count { _ = try await replies.first("a reply", after: index) }
            case .afterPings(let count):
                for _ in 0..<count { try await client.roundTrip() }
            }
            try await daemon.kill()
            try await group.waitForAll()
        }
        client.disconnect()
    }

    /// Makes a change and records its reply.
    private func apply(
        _ key: String,
        _ content: Ledger.Content,
        _ client: SecretServiceProxy,
        _ session: ObjectPath
    ) async -> Bool {
        do throws(BusError) {
            let item = try await client.searchItems(["key": key]).unlocked.first
            switch (content, item) {
            case (.absent, let item?):
                _ = try await client.deleteItem(item)
            case (.absent, nil):
                break
            case (.secret(let bytes), let item?):
                try await client.setSecret(WireSecret(session: session, value: bytes), of: item)
            case (.secret(let bytes), nil):
                let properties = SecretServiceProxy.itemProperties(label: key, ["key": key, "test": "crash"])
                let secret = WireSecret(session: session, value: bytes)
                _ = try await client.createItem(properties: properties, secret: secret)
            }
        } catch {
            return false
        }
        ledger.acknowledged(key, content)
        acknowledgements += 1
        return true
    }

    /// The changes of this round: new items, new secrets for old ones, and deletions.
    private func nextChanges() -> [String: Ledger.Content] {
        var changes: [String: Ledger.Content] = [:]
        let present = ledger.present.shuffled(using: &random)
        for key in present.prefix(Self.changesPerRound / 2) {
            changes[key] = Bool.random(using: &random) ? .absent : .secret(random.bytes(upTo: 300))
        }
        while changes.count < Self.changesPerRound {
            keyCount += 1
            changes["\(keyCount)"] = .secret(random.bytes(upTo: 6000))
        }
        return changes
    }

    private func nextMoment() -> Moment {
        if Bool.random(using: &random) {
            .afterReplies(Int.random(in: 0...Self.changesPerRound, using: &random))
        } else {
            .afterPings(Int.random(in: 0...200, using: &random))
        }
    }

    // MARK: Checking

    /// Returns every secret in the store by key.
    private func contents() async throws -> [String: [UInt8]] {
        let client = try SecretServiceProxy(on: daemon.bus)
        let session = try await client.openPlainSession()
        let items = try await client.searchItems(["test": "crash"]).unlocked
        let secrets = try await client.secrets(of: items, session: session)
        var contents: [String: [UInt8]] = [:]
        for item in items {
            guard let key = try await client.attributes(of: item)["key"], let secret = secrets[item],
                contents.updateValue(secret.value, forKey: key) == nil
            else { throw BusError(.failed, "\(item.rawValue) has no secret, no key, or another's key") }
        }
        client.disconnect()
        return contents
    }
}
