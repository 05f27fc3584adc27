import KeychaindAuthentication
import KeychaindTestSupport
import Testing

struct LockoutRecordTests {
    @Test
    func packed_records_readBack() {
        let records = [
            LockoutRecord(), LockoutRecord.unreadable,
            LockoutRecord(
                biometricFailures: 0x0102_0304,
                passcodeFailures: 7,
                lastPasscodeFailure: 0x0102_0304_0506_0708,
                bootID: "5f1d4ee2-9a2b-4c51-8a17-0e6b2c1f4b10"
            ),
        ]
        for record in records {
            #expect(LockoutRecord(packed: record.packed) == record)
            #expect(record.packed.count <= 100)
        }
    }

    @Test
    func packed_longBoot_isCut() {
        let record = LockoutRecord(bootID: String(repeating: "a", count: 1000))
        #expect(LockoutRecord(packed: record.packed).bootID == String(repeating: "a", count: 64))
    }

    @Test(
        arguments: [
            [], [1], [UInt8](repeating: 1, count: 16), [2] + [UInt8](repeating: 0, count: 16),
            [1] + [UInt8](repeating: 0, count: 81), [1] + [UInt8](repeating: 0, count: 16) + [0xFF],
        ] as [[UInt8]]
    )
    func init_otherBytes_isUnreadable(bytes: [UInt8]) {
        #expect(LockoutRecord(packed: bytes) == .unreadable)
    }

    @Test
    func init_randomBytes_doesNotTrap() {
        var generator = SeededGenerator(seed: 10)
        for _ in 0..<2000 {
            let bytes = generator.bytes(upTo: 90)
            let record = LockoutRecord(packed: [1] + bytes)
            #expect(record == .unreadable || record.packed == [1] + bytes)
        }
    }

    @Test
    func bootClock_system_knowsTheBoot() {
        #expect(BootClock.system.bootID.utf8.count == 36)
        #expect(BootClock.system.bootID == BootClock.system.bootID)
        let first = BootClock.system.now
        #expect(first > .zero)
        #expect(BootClock.system.now >= first)
    }
}
