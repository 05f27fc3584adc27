import Foundation
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Synchronization
import Testing

/// The callers of connections, each inspected once.
@Suite(.onLoop)
struct CallerIdentityTests {
    private static let process = Caller.Insight.process(CallerProcess(id: 1, startTime: 1, commandName: "fake"))

    /// A bus with the connections of the directory and of a caller.
    @BusActor
    private func run(
        inspection: @escaping CallerInspector.Inspection = { _ in process },
        isSame: @escaping CallerInspector.Check = { _ in true },
        patience: Duration = .seconds(300),
        _ body: @BusActor (CallerIdentity, Connection) async throws -> Void
    ) async throws {
        let bus = try await PrivateBus()
        let (own, other) = (try bus.connect(), try bus.connect())
        defer {
            own.close()
            other.close()
        }
        let inspector = CallerInspector(
            connection: own,
            inspection: inspection,
            isSame: isSame,
            patience: patience,
            logger: .silent
        )
        try await body(CallerIdentity(of: other.uniqueName, by: inspector), other)
    }

    @Test @BusActor
    func caller_realProcess_isThisOne() async throws {
        try await run(inspection: ProcessInspector().insight, isSame: ProcessInspector().isSame) { identity, other in
            let caller = await identity.caller()
            #expect(caller.uniqueName == other.uniqueName)
            #expect(caller.userID == getuid())
            #expect(caller.process?.id == getpid())
            let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            #expect(caller.process?.program?.path == program)
            #expect(await identity.caller() == caller)
        }
    }

    @Test @BusActor
    func caller_again_isNotLookedIntoAgain() async throws {
        let count = Recorder<Void>()
        let inspection: CallerInspector.Inspection = { _ in
            count.record(())
            return CallerIdentityTests.process
        }
        try await run(inspection: inspection) { identity, other in
            async let first = identity.caller()
            async let second = identity.caller()
            let (one, same) = await (first, second)
            #expect(one == same)
            #expect(await identity.caller() == one)
            #expect(count.count == 1)
        }
    }

    @Test @BusActor
    func caller_processHasBeenReplaced_isOpaqueFromThenOn() async throws {
        let isSame = Mutex(true)
        try await run(isSame: { _ in isSame.withLock { $0 } }) { identity, other in
            #expect(await identity.caller().process != nil)
            isSame.withLock { $0 = false }
            #expect(await identity.caller().reason?.hasSuffix("has ended") == true)
            isSame.withLock { $0 = true }
            #expect(await identity.caller().process == nil)
        }
    }

    @Test @BusActor
    func caller_cannotBeCheckedForNow_isOpaqueUntilItCan() async throws {
        let isShort = Mutex(false)
        let isSame: CallerInspector.Check = { _ throws(ExaminationObstacle) in
            guard isShort.withLock({ !$0 }) else { throw .shortage }
            return true
        }
        try await run(isSame: isSame) { identity, other in
            let caller = await identity.caller()
            #expect(caller.process != nil)
            isShort.withLock { $0 = true }
            #expect(await identity.caller().process == nil)
            #expect(identity.known?.process == nil)
            isShort.withLock { $0 = false }
            #expect(await identity.caller() == caller)
        }
    }

    @Test @BusActor
    func caller_cannotBeInspectedForNow_isOpaqueUntilItCan() async throws {
        let isShort = Mutex(true)
        let inspection: CallerInspector.Inspection = { _ throws(ExaminationObstacle) in
            guard isShort.withLock({ !$0 }) else { throw .shortage }
            return CallerIdentityTests.process
        }
        try await run(inspection: inspection) { identity, other in
            #expect(await identity.caller().process == nil)
            isShort.withLock { $0 = false }
            #expect(await identity.caller().process != nil)
        }
    }

    @Test @BusActor
    func caller_noSuchName_isOpaque() async throws {
        let bus = try await PrivateBus()
        let own = try bus.connect()
        defer { own.close() }
        let inspector = CallerInspector(connection: own, patience: Patience.limit, logger: .silent)
        for name in [":1.4711", "org.example.Nobody", "", "garbage name"] {
            #expect(await CallerIdentity(of: name, by: inspector).caller().process == nil)
        }
    }

    @Test @BusActor
    func caller_looksForEver_isOpaqueAndLookedIntoAgainLater() async throws {
        let turnstile = DispatchSemaphore(value: 0)
        let calls = Recorder<Void>()
        let inspection: CallerInspector.Inspection = { _ in
            calls.record(())
            if calls.count == 1 { turnstile.wait() }
            return CallerIdentityTests.process
        }
        try await run(inspection: inspection, patience: .milliseconds(20)) { identity, other in
            #expect(await identity.caller().reason == "looking into it takes too long")
            try await eventually("the caller's process") { await identity.caller().process != nil }
            turnstile.signal()
        }
    }

    @Test @BusActor
    func caller_looksForEver_leavesThreadsToOthers() async throws {
        let turnstile = DispatchSemaphore(value: 0)
        let calls = Recorder<Void>()
        let inspection: CallerInspector.Inspection = { _ in
            calls.record(())
            turnstile.wait()
            return CallerIdentityTests.process
        }
        try await run(inspection: inspection, patience: .milliseconds(1)) { identity, other in
            for _ in 0..<20 {
                #expect(await identity.caller().process == nil)
            }
            // Of eight.
            _ = try await calls.first("the second look", after: 1)
            #expect(calls.count == 2)
            for _ in 0..<2 { turnstile.signal() }
        }
    }

    @Test @BusActor
    func caller_leavesWhileLookedInto_isOpaque() async throws {
        let turnstile = DispatchSemaphore(value: 0)
        let calls = Recorder<Void>()
        let inspection: CallerInspector.Inspection = { _ in
            calls.record(())
            turnstile.wait()
            return CallerIdentityTests.process
        }
        try await run(inspection: inspection) { identity, other in
            let first = Task.immediate { @BusActor in await identity.caller() }
            _ = try await calls.first("the look")
            let second = Task.immediate { @BusActor in await identity.caller() }
            identity.leave()
            #expect(await second.value.reason == "it has left the bus")
            turnstile.signal()
            #expect(await first.value.process != nil)
            #expect(await identity.caller().process == nil)
        }
    }

    // MARK: Credentials

    @Test
    func credentials_everything_isRead() throws {
        let message = Message.call(to: "a.b", ObjectPath(unchecked: "/"), "a.b", "M")
        message.write { writer in
            writer.writeArray(of: "{sv}") { writer in
                writer.writeProperty("ProcessID", UInt32(7))
                writer.writeProperty("UnixUserID", UInt32(8))
                writer.writeProperty("UnixGroupIDs", [UInt32(9)])
                writer.writeProperty("LinuxSecurityLabel", ByteArray(Array("snap.a.b (enforce)\0\0".utf8)))
                writer.writeProperty("ProcessFD", FileDescriptor(owning: open("/dev/null", O_RDONLY)))
                writer.writeProperty("org.example.Unknown", "x")
            }
        }
        var reader = message.makeReader()
        let credentials = try ConnectionCredentials(from: &reader)
        #expect(credentials.processID == 7)
        #expect(credentials.userID == 8)
        #expect(credentials.securityLabel == "snap.a.b (enforce)")
        #expect(credentials.processDescriptor != nil)
    }

    @Test(arguments: ["ProcessID", "UnixUserID", "LinuxSecurityLabel", "ProcessFD"])
    func credentials_otherType_areRefused(name: String) {
        let message = Message.call(to: "a.b", ObjectPath(unchecked: "/"), "a.b", "M")
        message.append([name: Variant.string("x")])
        var reader = message.makeReader()
        #expect(throws: BusError(.invalidArguments, "")) { _ = try ConnectionCredentials(from: &reader) }
    }
}
