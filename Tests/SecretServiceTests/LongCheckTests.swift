import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// What ends access to items while the audit of their release is written.
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
                BusActor.start { action() }
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
        let reply = try await scene.reply(to: scene.secretsCall)
        #expect(time.hasHappened)
        #expect(reply.error?.name == .isLocked)
    }

    @Test("Nothing is released under rules that have changed, and the next call follows the new ones")
    @BusActor
    func rulesChangedDuringTheCheck_decide() async throws {
        let scene = try await LongCallScene(in: .login, clock: time.clock)
        let provider = scene.service.provider
        let folder = try TemporaryFolder()
        provider.administratorRules = try Self.rules("allow any of=scene", in: folder)
        let changed = try Self.rules("allow any of=scene", "never any n=0", in: folder)
        time.schedule(afterReads: Self.some) { provider.administratorRules = changed }
        #expect(try await scene.reply(to: scene.secretsCall).error?.name == .isLocked)
        #expect(time.hasHappened)
        let secrets = try await scene.reply(to: scene.secretsCall).read([ObjectPath: WireSecret].self)
        #expect(Set(secrets.keys) == Set(scene.items.dropFirst()))
    }

    @Test("Nothing is released once the grants have ended")
    @BusActor
    func grantsEndedDuringTheCheck_releasesNothing() async throws {
        let scene = try await grantedScene()
        let provider = scene.service.provider
        let granted = try await scene.reply(to: scene.secretsCall)
        #expect(try granted.read([ObjectPath: WireSecret].self).count == LongCallScene.count)
        // Each item is looked at once to read it, and once to check it.
        time.schedule(afterReads: LongCallScene.count + Self.some) { provider.endAuthentication(because: "test") }
        let reply = try await scene.reply(to: scene.secretsCall)
        #expect(time.hasHappened)
        #expect(reply.error?.name == .isLocked)
    }

    /// Items that take an authentication, which the caller has.
    @BusActor
    private func grantedScene() async throws -> LongCallScene {
        let scene = try await LongCallScene(in: .login, [Reserved.accessControl: "userPresence"], clock: time.clock)
        let prompter = try FakePrompter(on: scene.service.bus, [.answer(ProviderInProcess.password)])
        defer { prompter.crash() }
        let unlock = Message.toService(.service, Interface.service, "Unlock", scene.items)
        let (_, prompt) = try await scene.reply(to: unlock).read([ObjectPath].self, ObjectPath.self)
        let (isDismissed, result) = try await scene.completion(of: prompt)
        #expect(!isDismissed && result == .objectPaths(scene.items))
        return scene
    }
}
