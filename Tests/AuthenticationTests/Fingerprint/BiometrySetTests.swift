import Foundation
import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Testing

/// Changes that alter the set of enrolled fingers, and changes that do not.
@Suite(.onLoop)
struct BiometrySetTests {
    /// A reader with a folder like fprintd's.
    @BusActor
    private final class Fixture {
        let folder: TemporaryFolder
        let bus: PrivateBus
        let service: FakeFprintd
        let system: SystemBus

        init(_ bus: PrivateBus) throws {
            self.bus = bus
            folder = try TemporaryFolder()
            service = try FakeFprintd(on: bus)
            system = SystemBus(address: bus.address, timeout: Patience.limit, logger: .silent)
        }

        func set(user: String = "somebody") async throws -> BiometrySet {
            let reader = FingerprintReader(
                bus: system,
                templates: TemplateStore(path: folder.path, user: user),
                limits: .patient,
                logger: .silent
            )
            return try #require(await reader.availability().set)
        }

        func write(_ text: String, to name: String) throws {
            let path = folder.path(name)
            let parent = URL(fileURLWithPath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
            try folder.write(text, to: name)
        }

        func close() {
            system.close()
            service.crash()
        }
    }

    private static let print = "somebody/driver/0/7"

    @Test @BusActor
    func set_contentOfAPrint_counts() async throws {
        let fixture = try Fixture(await PrivateBus())
        defer { fixture.close() }
        let none = try await fixture.set()
        try fixture.write("one", to: BiometrySetTests.print)
        let one = try await fixture.set()
        try fixture.write("other", to: BiometrySetTests.print)
        let other = try await fixture.set()
        #expect(Set([none, one, other]).count == 3)
        try fixture.write("one", to: BiometrySetTests.print)
        let again = try await fixture.set()
        #expect(again == one)
    }

    @Test @BusActor
    func set_placeOfAPrint_counts() async throws {
        let fixture = try Fixture(await PrivateBus())
        defer { fixture.close() }
        try fixture.write("one", to: "somebody/driver/0/7")
        let index = try await fixture.set()
        try FileManager.default.moveItem(
            atPath: fixture.folder.path("somebody/driver/0/7"),
            toPath: fixture.folder.path("somebody/driver/0/8")
        )
        let middle = try await fixture.set()
        #expect(index != middle)
    }

    @Test @BusActor
    func set_anotherUsersPrint_doesNotCount() async throws {
        let fixture = try Fixture(await PrivateBus())
        defer { fixture.close() }
        try fixture.write("one", to: BiometrySetTests.print)
        let before = try await fixture.set()
        try fixture.write("one", to: "neighbour/driver/0/7")
        let after = try await fixture.set()
        #expect(before == after)
    }

    @Test(arguments: ["", ".", "..", "../somebody", "some/body", "/"]) @BusActor
    func set_userIsNoName_looksNowhere(user: String) async throws {
        let fixture = try Fixture(await PrivateBus())
        defer { fixture.close() }
        let before = try await fixture.set(user: user)
        try fixture.write("one", to: BiometrySetTests.print)
        let after = try await fixture.set(user: user)
        #expect(before == after)
    }

    @Test @BusActor
    func set_hugePrint_countsByItsSizeAndTime() async throws {
        let fixture = try Fixture(await PrivateBus())
        defer { fixture.close() }
        try fixture.write(String(repeating: "x", count: 2 << 20), to: BiometrySetTests.print)
        let before = try await fixture.set()
        let again = try await fixture.set()
        #expect(before == again)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1)],
            ofItemAtPath: fixture.folder.path(BiometrySetTests.print)
        )
        let after = try await fixture.set()
        #expect(before != after)
    }

    @Test @BusActor
    func set_linksAndLoops_areNotFollowed() async throws {
        let fixture = try Fixture(await PrivateBus())
        defer { fixture.close() }
        try fixture.write("one", to: BiometrySetTests.print)
        try FileManager.default.createSymbolicLink(
            atPath: fixture.folder.path("somebody/loop"),
            withDestinationPath: fixture.folder.path("somebody")
        )
        try FileManager.default.createSymbolicLink(
            atPath: fixture.folder.path("somebody/endless"),
            withDestinationPath: "/dev/zero"
        )
        let before = try await fixture.set()
        let again = try await fixture.set()
        #expect(before == again)
    }

    @Test @BusActor
    func set_thousandsOfFiles_isBounded() async throws {
        let fixture = try Fixture(await PrivateBus())
        defer { fixture.close() }
        for number in 0..<2000 {
            try fixture.write("x", to: "somebody/driver/0/\(number)")
        }
        let before = try await fixture.set()
        let again = try await fixture.set()
        #expect(before == again)
    }

    @Test @BusActor
    func set_namesOfFingers_count() async throws {
        try await FingerprintFixture.run { fixture in
            let hidden = TemplateStore(path: "/nonexistent")
            let system = SystemBus(address: fixture.virtual.bus.address, timeout: Patience.limit, logger: .silent)
            defer { system.close() }
            let reader = FingerprintReader(bus: system, templates: hidden, limits: .patient, logger: .silent)
            let before = await reader.availability().set
            try await fixture.virtual.enrol("left-thumb", as: "thumb")
            let more = await reader.availability().set
            try await fixture.virtual.delete("left-thumb")
            try await fixture.virtual.delete()
            try await fixture.virtual.enrol(as: "somebody else")
            let again = await reader.availability().set
            #expect(before != nil && before != more)
            // The prints are hidden here, so the change of finger is not detected.
            #expect(before == again)
        }
    }
}
