import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// What ends access to items while a long reply is made: its last check, and the sorting of hits by their locks.
@Suite(.onLoop)
struct LongCheckTests {
    private typealias Interface = SecretServiceProxy.Interface

    /// A clock that lets something happen soon after it was read a number of times.
    ///
    /// It is read for each audit entry, so while items are checked that a rule allows, and for each look at a grant.
    ///
    /// `@unchecked Sendable`: used only on the event-loop thread.
    private final class EventfulClock: @unchecked Sendable {
        private var event: (reads: Int, action: @BusActor () -> Void)?

        var clock: BootClock {
            BootClock(bootID: "boot") {
                self.wasRead()
                return .seconds(1000)
            }
        }

        var hasHappened: Bool { event == nil }

        /// - Parameter action: what happens in another turn of the loop than the last of the reads.
        func schedule(afterReads reads: Int, _ action: @escaping @BusActor () -> Void) {
            event = (reads, action)
        }

        private func wasRead() {
            guard let (reads, action) = event else { return }
            event = reads > 1 ? (reads - 1, action) : nil
            guard event == nil else { return }
            BusActor.assumeIsolated {
                BusActor.start {
                    await Task.yield()
                    action()
                }
            }
        }
    }

    private let time = EventfulClock()

    /// Some of the items have been checked after so many audit entries.
    private static let some = 10

    static func rules(_ lines: String..., in folder: TemporaryFolder) throws -> AdministratorRules {
        let path = try folder.makeFolder("rules.d")
        chmod(try folder.write(lines.joined(separator: "\n"), to: "rules.d/a.rules"), 0o644)
        var rules = AdministratorRules()
        rules.read(path, owner: getuid())
        #expect(rules.mistakes.isEmpty)
        return rules
    }

    @Test("Nothing is released once the keychain was locked")
    @BusActor
    func lockedDuringTheCheck_releasesNothing() async throws {
        let scene = try await LongCallScene(in: .login, clock: time.clock)
        let login = try scene.service.collection(.login)
        scene.service.provider.administratorRules = try Self.rules("allow any of=scene", in: TemporaryFolder())
        time.schedule(afterReads: Self.some) { login.lock() }
        let reply = try await scene.reply(to: scene.secretsCall, meanwhile: [])
        #expect(time.hasHappened)
        #expect(try reply.read([ObjectPath: WireSecret].self).isEmpty)
    }

    @Test("Rules that change during the check decide about all items, and each release is counted once")
    @BusActor
    func rulesChangedDuringTheCheck_decide() async throws {
        let scene = try await LongCallScene(in: .login, clock: time.clock)
        let provider = scene.service.provider
        let folder = try TemporaryFolder()
        provider.administratorRules = try Self.rules("allow any of=scene", in: folder)
        let changed = try Self.rules("allow any of=scene", "never any n=0", in: folder)
        time.schedule(afterReads: Self.some) { provider.administratorRules = changed }
        let reply = try await scene.reply(to: scene.secretsCall, meanwhile: [])
        #expect(time.hasHappened)
        let secrets = try reply.read([ObjectPath: WireSecret].self)
        #expect(Set(secrets.keys) == Set(scene.items.dropFirst()))
        #expect(try await scene.service.client.rules().map(\.uses) == [UInt32(LongCallScene.count), 1])
    }

    @Test("A search in whose midst a rule hides an item, whose row is written already, tells nothing of it")
    @BusActor
    func hiddenDuringTheReply_isNotTold() async throws {
        let scene = try await LongCallScene(in: .login)
        let (provider, connection) = (scene.service.provider, scene.service.connection)
        let folder = try TemporaryFolder()
        let allowing = try Self.rules("allow any of=scene", in: folder)
        let hiding = try Self.rules("hide any n=0", in: folder)
        for session in [ObjectPath.root, scene.session] {
            var refusals = 0
            for turns in stride(from: 0, to: 24, by: 3) {
                provider.administratorRules = allowing
                let queries = [["of": "scene"]]
                let search = Message.toService(.service, "org.keychaind.Search1", "Search", queries, session, UInt32(0))
                let change = Task {
                    while connection.longCalls == 0, !Task.isCancelled { await Task.yield() }
                    for _ in 0..<turns { await Task.yield() }
                    guard connection.longCalls > 0 else { return false }
                    provider.administratorRules = hiding
                    return true
                }
                let reply = try await scene.reply(to: search, meanwhile: [])
                change.cancel()
                guard await change.value else { continue }
                guard reply.error == nil else {
                    refusals += 1
                    continue
                }
                let (rows, secrets) = try reply.read([FoundRow].self, [ObjectPath: WireSecret].self)
                #expect(!rows.map(\.path).contains(scene.items[0]) && secrets[scene.items[0]] == nil, "\(turns)")
            }
            #expect(refusals > 0)
        }
    }

    @Test("The release of a secret that changes after its check is counted once")
    @BusActor
    func changedDuringTheCheck_isCountedOnce() async throws {
        let scene = try await LongCallScene(in: .sessionCollection, clock: time.clock)
        let provider = scene.service.provider
        let session = try scene.service.collection(.session)
        let id = try #require(session.itemIDs.first)
        provider.administratorRules = try Self.rules("allow any of=scene", in: TemporaryFolder())
        time.schedule(afterReads: Self.some) {
            BusActor.start {
                let new = try? Secret(bytes: ProviderInProcess.bytes("new"), contentType: "text/plain")
                try? await session.updateItem(id, secret: new)
            }
        }
        let reply = try await scene.reply(to: scene.secretsCall, meanwhile: [])
        #expect(time.hasHappened)
        #expect(try reply.read([ObjectPath: WireSecret].self)[scene.items[0]]?.value == Array("new".utf8))
        #expect(try await scene.service.client.rules().map(\.uses) == [UInt32(LongCallScene.count)])
    }

    @Test("Nothing is released once the grants have ended")
    @BusActor
    func grantsEndedDuringTheCheck_releasesNothing() async throws {
        let scene = try await grantedScene()
        let provider = scene.service.provider
        let granted = try await scene.reply(to: scene.secretsCall, meanwhile: [])
        #expect(try granted.read([ObjectPath: WireSecret].self).count == LongCallScene.count)
        // Each item is looked at once to read it, and once to check it.
        time.schedule(afterReads: LongCallScene.count + Self.some) { provider.endAuthentication(because: "test") }
        let reply = try await scene.reply(to: scene.secretsCall, meanwhile: [])
        #expect(time.hasHappened)
        #expect(try reply.read([ObjectPath: WireSecret].self).isEmpty)
    }

    @Test("A search whose hits are locked while it looks at them tells so about all")
    @BusActor
    func grantsEndedDuringASearch_allAreLocked() async throws {
        let scene = try await grantedScene()
        let provider = scene.service.provider
        let search = Message.toService(.service, Interface.service, "SearchItems", ["of": "scene"])
        time.schedule(afterReads: Self.some) { provider.endAuthentication(because: "test") }
        let (unlocked, locked) = try await scene.reply(to: search, meanwhile: [])
            .read([ObjectPath].self, [ObjectPath].self)
        #expect(time.hasHappened)
        #expect(unlocked.isEmpty && locked == scene.items.reversed())
    }

    /// Items that take an authentication, which the caller has.
    @BusActor
    private func grantedScene() async throws -> LongCallScene {
        let scene = try await LongCallScene(in: .login, [Reserved.accessControl: "userPresence"], clock: time.clock)
        let prompter = try FakePrompter(on: scene.service.bus, [.answer(ProviderInProcess.password)])
        defer { prompter.crash() }
        let unlock = Message.toService(.service, Interface.service, "Unlock", scene.items)
        let (_, prompt) = try await scene.reply(to: unlock, meanwhile: []).read([ObjectPath].self, ObjectPath.self)
        let (isDismissed, result) = try await scene.completion(of: prompt, meanwhile: [])
        #expect(!isDismissed && result == .objectPaths(scene.items))
        return scene
    }
}
