import KeychaindGcrypt
import KeychaindVault
import Testing

/// What keys for the next process are bound to.
@Suite struct RestartStampTests {
    init() {
        _ = Fixture.pool
    }

    private let restart = RestartStamp(
        bootID: "0a1b2c3d-0000-4000-8000-000000000000",
        time: 1000,
        manager: 700,
        managerStart: 4711,
        job: 12,
        unit: "/org/freedesktop/systemd1/unit/keychaind_2eservice"
    )

    private func start(_ change: (inout RestartStamp) -> Void) -> RestartStamp {
        var start = restart
        change(&start)
        return start
    }

    @Test("a start within twenty seconds, in the same job by the same manager, follows a restart")
    func isFollowed_bySoonStart_isTrue() {
        for seconds: UInt64 in [0, 1, 20] {
            #expect(restart.isFollowed(by: start { $0.time += seconds }))
        }
        #expect(restart.isFollowed(by: start { $0.hasSession = true }))
    }

    @Test("a start later, earlier, in another boot, by another manager, in another job or of another unit does not")
    func isFollowed_byAnotherStart_isFalse() {
        let others = [
            start { $0.time += 21 }, start { $0.time -= 1 }, start { $0.time = .max },
            start { $0.bootID = "0a1b2c3d-0000-4000-8000-000000000001" }, start { $0.bootID = "" },
            start { $0.manager = 701 }, start { $0.managerStart += 1 }, start { $0.job += 1 },
            start { $0.unit += "_2eother" },
        ]
        for other in others {
            #expect(!restart.isFollowed(by: other))
        }
        let unknown = start { $0.bootID = "" }
        #expect(!unknown.isFollowed(by: unknown))
    }

    @Test("the stamp and the keys after it come back")
    func take_stampedKeys_returnsBoth() throws {
        for restart in [restart, start { $0.hasSession = true }] {
            var stamped = try restart.stamped(SecureBytes(copying: [1, 2, 3]))
            #expect(RestartStamp.take(from: &stamped) == restart)
            #expect(stamped.withUnsafeBytes { Array($0) } == [1, 2, 3])
        }
    }

    @Test("keys with a part of a stamp, or none, have none and stay as they are")
    func take_cutStamp_isNil() throws {
        let whole = try restart.stamped(SecureBytes(count: 0)).withUnsafeBytes { Array($0) }
        for count in whole.indices {
            var cut = try SecureBytes(copying: Array(whole[..<count]))
            #expect(RestartStamp.take(from: &cut) == nil)
            #expect(cut.count == count)
        }
    }
}
