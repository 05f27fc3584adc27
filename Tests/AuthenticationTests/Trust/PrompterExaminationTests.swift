import Foundation
import KeychaindAuthentication
import KeychaindTestSupport
import Testing

/// A fake session of a user manager and a bus; each test changes one thing.
struct PrompterExaminationTests {
    private static let system = "/usr/bin/dbus-daemon"
    private static let manager: Int32 = 100
    private static let bus: Int32 = 101
    private static let user: UInt32 = 1000

    /// Executable memory of the kernel only.
    private static let maps = "7ffc0000-7ffc1000 r-xp 00000000 00:00 0                          [vdso]\n"

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try addProcess(ProcessFolderName.own, parent: 1)
        try addProcess(
            PrompterExaminationTests.manager,
            parent: 1,
            program: nil,
            group: "/user.slice/user-1000.slice/user@1000.service/init.scope"
        )
        try addProcess(
            PrompterExaminationTests.bus,
            parent: PrompterExaminationTests.manager,
            program: PrompterExaminationTests.system
        )
    }

    private enum ProcessFolderName {
        static let own = "self"
    }

    private func addProcess(
        _ id: some CustomStringConvertible,
        parent: Int32,
        program: String? = nil,
        group: String = "/",
        state: String = "S",
        user: UInt32 = PrompterExaminationTests.user,
        maps: String = PrompterExaminationTests.maps
    ) throws {
        try? FileManager.default.removeItem(atPath: folder.path("proc/\(id)"))
        _ = try folder.makeFolder("proc/\(id)/ns")
        let link = FileManager.default.createSymbolicLink(atPath:withDestinationPath:)
        try link(folder.path("proc/\(id)/ns/user"), "user:[1]")
        if let program { try link(folder.path("proc/\(id)/exe"), program) }
        try folder.write(
            "\(id) (name) \(state) \(parent) 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 98765 1 1",
            to: "proc/\(id)/stat"
        )
        try folder.write(
            "Name:\tname\nTracerPid:\t0\nUid:\t\(user)\t\(user)\t\(user)\t\(user)\n",
            to: "proc/\(id)/status"
        )
        try folder.write("0::\(group)\n", to: "proc/\(id)/cgroup")
        try folder.write(maps, to: "proc/\(id)/maps")
    }

    private func objection(
        listener: Int32 = PrompterExaminationTests.bus,
        daemon: Int32? = PrompterExaminationTests.bus
    ) -> String? {
        PrompterExamination(root: folder.path("proc"), userID: PrompterExaminationTests.user)
            .trust(in: PrompterExamination.Bus(listener: listener, daemon: daemon)).objection
    }

    @Test(.enabled(if: getuid() == 0, "only root's folders are the system's"))
    func bus_ofTheSession_isTrusted() throws {
        #expect(objection() == nil)
        // The user manager opened its socket.
        #expect(objection(listener: PrompterExaminationTests.manager) == nil)
    }

    /// The user manager starts the launcher, which starts dbus-broker, and is named as the process of the bus.
    ///
    /// Debian's package would take the place of dbus-daemon on the machine that runs the tests.
    @Test(
        .enabled(if: getuid() == 0, "only root's folders are the system's"),
        .enabled(if: access("/usr/bin/dbus-broker-launch", X_OK) == 0, "needs dbus-broker")
    )
    func bus_dbusBroker_isTrusted() throws {
        let (launcher, broker): (Int32, Int32) = (201, 202)
        try addProcess(launcher, parent: PrompterExaminationTests.manager, program: "/usr/bin/dbus-broker-launch")
        try addProcess(broker, parent: launcher, program: "/usr/bin/dbus-broker")
        _ = try folder.makeFolder("proc/\(launcher)/task/\(launcher)")
        try folder.write("\(broker) ", to: "proc/\(launcher)/task/\(launcher)/children")
        for named in [launcher, broker] {
            #expect(objection(listener: PrompterExaminationTests.manager, daemon: named) == nil)
        }
        // One that a program of the user started.
        try addProcess(launcher, parent: 1, program: "/usr/bin/dbus-broker-launch")
        let reason = objection(listener: PrompterExaminationTests.manager, daemon: broker)
        #expect(reason == "the session bus is not trusted: it was not started by the session")
    }

    @Test("The socket of another user's manager, of one with another parent, or in another control group")
    func bus_ofAnotherManager_isNot() throws {
        let group = "/user.slice/user-1000.slice/user@1000.service/init.scope"
        let fakes: [(parent: Int32, group: String, user: UInt32)] = [
            (1, group, 1001), (150, group, 1000), (1, "/user.slice/init.scope", 1000),
            (1, "/user.slice/user-1000.slice/user@1000.service/app.slice", 1000),
        ]
        for fake in fakes {
            try addProcess(200, parent: fake.parent, group: fake.group, user: fake.user)
            let reason = objection(listener: 200, daemon: PrompterExaminationTests.bus)
            #expect(reason == "the session bus is not trusted: its program cannot be seen", "\(fake)")
        }
    }

    @Test(
        arguments: [
            ("7f00-7f01 r-xp 00000000 00:00 0 \n", "it runs code that is in no file"),
            ("7f00-7f01 r-xp 00000000 00:00 0  [heap]\n", "it runs code that is in no file"),
            ("7f00-7f01 rwxp 00000000 fe:00 1 /usr/bin/dbus-daemon\n", "it can change its own code"),
            (
                "7f00-7f01 r-xp 0 00:01 1  /memfd:/usr/lib/x (deleted)\n",
                "it runs code of “/memfd:/usr/lib/x”, which was deleted or replaced"
            ),
            ("7f00-7f01 r-xp 0 fe:00 1  /tmp/\\012x\n", "it runs code of “/tmp/\\012x”, which is no system file"),
            ("", "its code cannot be seen"),
            ("7f00-7f01 r--p 0 fe:00 1 /usr/bin/dbus-daemon\n", "its code cannot be seen"),
            ("garbage\n", "its code cannot be seen"),
        ]
    )
    func bus_otherCode_isNot(maps: String, reason: String) throws {
        try addProcess(
            PrompterExaminationTests.bus,
            parent: PrompterExaminationTests.manager,
            program: PrompterExaminationTests.system,
            maps: maps
        )
        #expect(objection() == "the session bus is not trusted: \(reason)")
    }

    @Test(arguments: ["T", "t", "Z", "X"])
    func bus_notRunning_isNot(state: String) throws {
        try addProcess(
            PrompterExaminationTests.bus,
            parent: PrompterExaminationTests.manager,
            program: PrompterExaminationTests.system,
            state: state
        )
        #expect(objection() == "the session bus is not trusted: it is stopped")
    }

    @Test
    func bus_otherProgram_isNot() throws {
        try addProcess(PrompterExaminationTests.bus, parent: PrompterExaminationTests.manager, program: "/usr/bin/true")
        #expect(objection() == "the session bus is not trusted: “/usr/bin/true” is no known bus")
        #expect(objection(listener: PrompterExaminationTests.manager, daemon: nil) == "the session bus cannot be seen")
        #expect(objection(listener: 999)?.contains("has ended or cannot be seen") == true)
    }

    @Test
    func bus_saysThatItIsAnother_isNot() throws {
        // The manager opened the socket, and the bus names a bus that the session did not start.
        try addProcess(200, parent: 1, program: PrompterExaminationTests.system)
        let reason = objection(listener: PrompterExaminationTests.manager, daemon: 200)
        #expect(reason?.hasPrefix("the session bus is not trusted") == true)
    }
}
