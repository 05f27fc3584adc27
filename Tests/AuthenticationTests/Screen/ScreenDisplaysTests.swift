import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Logging
import Testing

/// Displays of this process, as a compositor that logind calls the controller, beside those of others.
@Suite(.onLoop)
struct ScreenDisplaysTests {
    @Test
    @BusActor
    func find_compositorBesideAnotherProgram_isTheCompositors() async throws {
        let screen = try await FakeScreen()
        let other = try await screen.listenElsewhere("run/wayland-0")
        #expect(await screen.displays.find() == nil)
        let own = try screen.listen("run/wayland-1")
        let display = try #require(await screen.displays.find())
        let connection = try #require(display.wayland as FileDescriptor?)
        #expect(Peer.process(of: connection.rawValue) == getpid())
        #expect(display.x11 == nil)
        #expect(await display.isVisible())
        withExtendedLifetime((own, other)) {}
    }

    @Test("In the place of a session's first compositor, no other program counts, and the journal says so once")
    @BusActor
    func find_compositorIsReplaced_isNone() async throws {
        let lines = Recorder<LogRecorder.Line>()
        let screen = try await FakeScreen(logger: Logger(recordingTo: lines))
        #expect(await screen.screens.visible().map(\.controller) == [getpid()])
        let second = try await screen.control("2")
        #expect(await screen.screens.visible().isEmpty)
        #expect(await screen.screens.visible().isEmpty)
        #expect(lines.all.filter { $0.text.contains("replaced") }.count == 1)
        let other = try await screen.control("3")
        #expect(await screen.screens.visible().map(\.controller) == [other.id])
        try screen.writeSession()
        #expect(Set(await screen.screens.visible().map(\.controller)) == [getpid(), other.id])
        withExtendedLifetime(second) {}
    }

    @Test("Nor does one after a restart of keychaind, until a session has the name that begins later")
    @BusActor
    func visible_compositorIsReplacedAndKeychaindRestarts_isNone() async throws {
        let screen = try await FakeScreen()
        #expect(await screen.screens.visible().map(\.controller) == [getpid()])
        #expect(await screen.restarted().visible().map(\.controller) == [getpid()])
        let second = try await screen.control("2")
        #expect(await screen.restarted().visible().isEmpty)
        let later = try await screen.control("2", since: "2")
        #expect(await screen.restarted().visible().map(\.controller) == [later.id])
        withExtendedLifetime(second) {}
    }

    @Test
    @BusActor
    func find_xServerOfAnotherProgram_isNone() async throws {
        guard getuid() != 0 else { return }
        let screen = try await FakeScreen(type: "x11")
        let other = try await screen.listenElsewhere("x11/X7")
        #expect(await screen.displays.find() == nil)
        withExtendedLifetime(other) {}
    }

    @Test
    @BusActor
    func find_xServer_isNamed() async throws {
        let screen = try await FakeScreen(type: "x11")
        let own = try screen.listen("x11/X3")
        let display = try #require(await screen.displays.find())
        #expect(display.x11 == ":3" && display.wayland == nil)
        withExtendedLifetime(own) {}
    }

    @Test(
        "Among more sockets than are looked at, the X server of root's could be hidden",
        arguments: ["x11", "wayland"]
    )
    @BusActor
    func find_tooManySockets_isNone(type: String) async throws {
        let screen = try await FakeScreen(type: type)
        let own = try screen.listen(type == "x11" ? "x11/X3" : "run/wayland-0")
        #expect(await screen.displays.find() != nil)
        for number in 0..<64 {
            try screen.folder.write("", to: type == "x11" ? "x11/X1\(number)" : "run/wayland-1\(number)")
        }
        #expect(await screen.displays.find() == nil)
        withExtendedLifetime(own) {}
    }

    @Test("A session that nobody sees is no screen, whatever its controller says", arguments: hidden)
    @BusActor
    func find_sessionThatIsNotSeen_isNone(changes: [String: String?]) async throws {
        let screen = try await FakeScreen()
        let own = try screen.listen("run/wayland-0")
        let display = try #require(await screen.displays.find())
        try screen.writeSession(changes)
        #expect(await screen.displays.find() == nil)
        #expect(!(await display.isVisible()))
        withExtendedLifetime(own) {}
    }

    private static let hidden: [[String: String?]] = [
        ["ACTIVE": "0"], ["REMOTE": "1"], ["STATE": "closing"], ["SEAT": nil], ["CLASS": "greeter"], ["UID": "4711"],
        ["TYPE": "tty"], ["TYPE": "mir"], ["CONTROLLER": nil], ["CONTROLLER": ":1.4711"], ["UID": nil],
        // A program has become the controller of an X11 session, and says that it is a compositor.
        ["ORIGINAL_TYPE": "x11"],
    ]

    @Test("Where seatd gives out the devices, logind's controller is nobody in particular")
    @BusActor
    func find_besideSeatd_isNone() async throws {
        let screen = try await FakeScreen()
        let own = try screen.listen("run/wayland-0")
        try screen.folder.write("", to: "seatd.sock")
        #expect(await screen.displays.find() == nil)
        withExtendedLifetime(own) {}
    }

    @Test("A compositor that was started from a text terminal counts; so does a logind that knows no original type")
    @BusActor
    func find_sessionFromATerminal_isFound() async throws {
        let screen = try await FakeScreen()
        let own = try screen.listen("run/wayland-0")
        for original in ["tty", nil] {
            try screen.writeSession(["ORIGINAL_TYPE": original])
            #expect(await screen.displays.find() != nil)
        }
        withExtendedLifetime(own) {}
    }

    @Test("KWin's starter listens for it; what else started the compositor does not", arguments: starters)
    @BusActor
    func find_starterOfTheCompositor_isKWinsOnly(name: String, isFound: Bool) async throws {
        let processes = try TemporaryFolder()
        let screen = try await FakeScreen(processes: processes.path)
        let starter = try await screen.listenElsewhere("run/wayland-0")
        for id in [getpid(), starter.id] { _ = try processes.makeFolder("\(id)") }
        try processes.write(
            "\(getpid()) (kwin) S \(starter.id) 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 9 1 1",
            to: "\(getpid())/stat"
        )
        // Its program cannot be seen, as it has a capability.
        try processes.write("\(name)\n", to: "\(starter.id)/comm")
        #expect((await screen.displays.find() != nil) == isFound)
        withExtendedLifetime(starter) {}
    }

    private static let starters = [("kwin_wayland_wr", true), ("systemd", false), ("bash", false)]

    private enum Peer {
        static func process(of socket: Int32) -> pid_t {
            var credentials = (pid: pid_t(0), uid: uid_t(0), gid: gid_t(0))
            var size = socklen_t(MemoryLayout.size(ofValue: credentials))
            getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size)
            return credentials.pid
        }
    }
}
