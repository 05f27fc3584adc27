import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// The session environment with a fake user manager.
@Suite(.lockedPool, .onLoop)
struct SessionEnvironmentTests {
    @Test
    @BusActor
    func variables_ownDisplay_areOwn() async throws {
        let variables = try await self.variables(own: ["DISPLAY": ":1"], manager: ["DISPLAY=:2", "LANG=C"])
        #expect(variables == ["DISPLAY": ":1"])
    }

    @Test
    @BusActor
    func variables_noDisplay_areTheManagersToo() async throws {
        let variables = try await self.variables(
            own: ["HOME": "/home", "LANG": "old"],
            manager: ["WAYLAND_DISPLAY=wayland-0", "LANG=new", "A=b=c", "", "broken", "=x", "A=last"]
        )
        #expect(variables["WAYLAND_DISPLAY"] == "wayland-0")
        #expect(variables["HOME"] == "/home")
        #expect(variables["LANG"] == "new")
        #expect(variables["A"] == "last")
        #expect(SessionEnvironment.hasDisplay(variables))
    }

    @Test
    @BusActor
    func variables_noManager_areOwn() async throws {
        #expect(try await variables(own: ["HOME": "/home"], manager: nil) == ["HOME": "/home"])
    }

    @Test(
        arguments: [
            ("KDE", true), ("kde", true), ("GNOME:KDE", true), ("KDE:Plasma", true), ("GNOME", false), ("", false),
            ("KDEX", false), ("X-KDE", false),
        ]
    )
    @BusActor
    func isKDE_names_areCompared(desktop: String, isKDE: Bool) {
        #expect(SessionEnvironment.isKDE(["XDG_CURRENT_DESKTOP": desktop]) == isKDE)
        #expect(!SessionEnvironment.isKDE([:]))
    }

    @BusActor
    private func variables(own: [String: String], manager: [String]?) async throws -> [String: String] {
        let bus = try await PrivateBus()
        let connection = try bus.connect()
        let managers = try bus.connect()
        defer {
            connection.close()
            managers.close()
        }
        if let manager {
            let property = Property<Void>("Environment", [String].self) { _ in manager }
            let kind = ObjectKind<Void>([Interface("org.freedesktop.systemd1.Manager", properties: [property])])
            managers.server = ObjectServer(on: managers, limit: 16) { _ in kind.target(()) }
            #expect(try managers.requestName("org.freedesktop.systemd1") == .owner)
        }
        return await SessionEnvironment(own: own, connection: connection, timeout: .seconds(300)).variables()
    }
}
