import Foundation
import KeychaindAuthentication
import KeychaindTestSupport
import Testing

/// A fake session of a user manager, a bus and a prompter; each test changes one thing.
struct PrompterExaminationTests {
    private static let system = "/usr/bin/dbus-daemon"
    /// A system program in the place of a prompter; the test's service file names it.
    private static let prompter = "/usr/bin/sleep"
    private static let busName = "org.example.Prompter"
    private static let manager: Int32 = 100
    private static let bus: Int32 = 101
    private static let id: Int32 = 102
    private static let user: UInt32 = 1000

    /// Executable memory of the kernel only.
    private static let maps = "7ffc0000-7ffc1000 r-xp 00000000 00:00 0                          [vdso]\n"

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(
            "[D-BUS Service]\nName=org.example.Prompter\nExec=/usr/bin/sleep 1000\n",
            to: "org.example.Prompter.service"
        )
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
        try addProcess(
            PrompterExaminationTests.id,
            parent: PrompterExaminationTests.bus,
            program: PrompterExaminationTests.prompter
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
        maps: String = PrompterExaminationTests.maps,
        environment: String = "PATH=/usr/bin\0"
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
        try folder.write(environment, to: "proc/\(id)/environ")
    }

    private func objection(
        listener: Int32 = PrompterExaminationTests.bus,
        daemon: Int32? = PrompterExaminationTests.bus
    ) -> String? {
        PrompterExamination(
            root: folder.path("proc"),
            userID: PrompterExaminationTests.user,
            serviceFolders: [folder.path]
        ).trust(
            inOwner: PrompterExaminationTests.id,
            of: PrompterExaminationTests.busName,
            on: PrompterExamination.Bus(listener: listener, daemon: daemon)
        ).objection
    }

    @Test(.enabled(if: getuid() == 0, "only root's folders are the system's"))
    func owner_startedByTheBus_isTrusted() throws {
        #expect(objection() == nil)
        // The user manager opened the socket of the bus, and started the prompter.
        try addProcess(
            PrompterExaminationTests.id,
            parent: PrompterExaminationTests.manager,
            program: PrompterExaminationTests.prompter
        )
        #expect(objection(listener: PrompterExaminationTests.manager) == nil)
        // The forked helper of dbus-daemon.
        try addProcess(200, parent: PrompterExaminationTests.bus, program: PrompterExaminationTests.system)
        try addProcess(PrompterExaminationTests.id, parent: 200, program: PrompterExaminationTests.prompter)
        #expect(objection() == nil)
    }

    /// The user manager starts the launcher, which starts dbus-broker, and is named as the process of the bus.
    ///
    /// Debian's package would take the place of dbus-daemon on the machine that runs the tests.
    @Test(
        .enabled(if: getuid() == 0, "only root's folders are the system's"),
        .enabled(if: access("/usr/bin/dbus-broker-launch", X_OK) == 0, "needs dbus-broker")
    )
    func owner_ofDBusBroker_isTrusted() throws {
        let (launcher, broker): (Int32, Int32) = (201, 202)
        try addProcess(launcher, parent: PrompterExaminationTests.manager, program: "/usr/bin/dbus-broker-launch")
        try addProcess(broker, parent: launcher, program: "/usr/bin/dbus-broker")
        _ = try folder.makeFolder("proc/\(launcher)/task/\(launcher)")
        try folder.write("\(broker) ", to: "proc/\(launcher)/task/\(launcher)/children")
        try addProcess(
            PrompterExaminationTests.id,
            parent: PrompterExaminationTests.manager,
            program: PrompterExaminationTests.prompter
        )
        for named in [launcher, broker] {
            #expect(objection(listener: PrompterExaminationTests.manager, daemon: named) == nil)
        }
        // One that a program of the user started.
        try addProcess(launcher, parent: 1, program: "/usr/bin/dbus-broker-launch")
        let reason = objection(listener: PrompterExaminationTests.manager, daemon: broker)
        #expect(reason == "the session bus is not trusted: it was not started by the session")
    }

    @Test(.enabled(if: getuid() == 0, "only root's folders are the system's"))
    func owner_startedByAnother_isNot() throws {
        try addProcess(200, parent: 1, program: PrompterExaminationTests.system)
        try addProcess(PrompterExaminationTests.id, parent: 200, program: PrompterExaminationTests.prompter)
        #expect(objection() == "it was not started by the session")
        // The manager of another user, one with another parent, and one in another control group.
        let group = "/user.slice/user-1000.slice/user@1000.service/init.scope"
        let fakes: [(parent: Int32, group: String, user: UInt32, program: String?)] = [
            (1, group, 1001, nil), (150, group, 1000, nil), (1, "/user.slice/init.scope", 1000, nil),
            (1, "/user.slice/user-1000.slice/user@1000.service/app.slice", 1000, nil),
            (1, group, 1000, folder.path("missing")),
        ]
        for fake in fakes.dropLast() {
            try addProcess(200, parent: fake.parent, program: fake.program, group: fake.group, user: fake.user)
            #expect(objection() == "it was not started by the session", "\(fake)")
        }
    }

    @Test
    func owner_otherProgram_isNot() throws {
        try addProcess(PrompterExaminationTests.id, parent: PrompterExaminationTests.bus, program: "/usr/bin/true")
        #expect(objection() == "“/usr/bin/true” is no known prompter")
        try addProcess(PrompterExaminationTests.id, parent: PrompterExaminationTests.bus, program: "/bin/sh")
        #expect(objection()?.contains("runs other programs") == true)
        try addProcess(PrompterExaminationTests.id, parent: PrompterExaminationTests.bus)
        #expect(objection() == "its program cannot be seen")
    }

    @Test(
        arguments: [
            ("7f00-7f01 r-xp 00000000 00:00 0 \n", "it runs code that is in no file"),
            ("7f00-7f01 r-xp 00000000 00:00 0  [heap]\n", "it runs code that is in no file"),
            ("7f00-7f01 rwxp 00000000 fe:00 1 /usr/bin/sleep\n", "it can change its own code"),
            (
                "7f00-7f01 r-xp 0 00:01 1  /memfd:/usr/lib/x (deleted)\n",
                "it runs code of “/memfd:/usr/lib/x”, which was deleted or replaced"
            ),
            ("7f00-7f01 r-xp 0 fe:00 1  /tmp/\\012x\n", "it runs code of “/tmp/\\012x”, which is no system file"),
            ("", "its code cannot be seen"), ("7f00-7f01 r--p 0 fe:00 1 /usr/bin/sleep\n", "its code cannot be seen"),
            ("garbage\n", "its code cannot be seen"),
        ]
    )
    func owner_otherCode_isNot(maps: String, reason: String) throws {
        try addProcess(
            PrompterExaminationTests.id,
            parent: PrompterExaminationTests.bus,
            program: PrompterExaminationTests.prompter,
            maps: maps
        )
        #expect(objection() == reason)
    }

    @Test(arguments: ["T", "t", "Z", "X"])
    func owner_notRunning_isNot(state: String) throws {
        try addProcess(
            PrompterExaminationTests.id,
            parent: PrompterExaminationTests.bus,
            program: PrompterExaminationTests.prompter,
            state: state
        )
        #expect(objection() == "it is stopped")
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
