import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Testing

/// The subject of polkit checks, with a mocked logind and real processes as session leaders.
@Suite(.onLoop)
struct SessionLeaderTests {
    @BusActor
    private func subject(_ logind: FakeLogind) async throws -> PolkitSubject {
        let connection = try logind.bus.connect()
        defer { connection.close() }
        return try await SessionLeader().subject(on: connection, until: Deadline(after: Patience.limit))
    }

    @Test
    @BusActor
    func subject_leaderOfAnotherUser_isTheLeader() async throws {
        let logind = try await FakeLogind()
        let leader = try await ForeignProcess()
        try await logind.setLeader(leader.id)
        try await logind.setDisplay("c1")
        guard case .process(let id, let startTime, let user) = try await subject(logind) else {
            return #expect(Bool(false), "no process")
        }
        #expect(id == UInt32(leader.id))
        #expect(startTime == (try RealPolkit.startTime(of: leader.id)))
        #expect(user == Int32(bitPattern: getuid()))
    }

    @Test
    @BusActor
    func subject_leaderOfTheSameUser_isNone() async throws {
        let logind = try await FakeLogind()
        try await logind.setLeader(getpid())
        try await logind.setDisplay("c1")
        await #expect(throws: BusError.self) { try await subject(logind) }
    }

    @Test
    @BusActor
    func subject_noLogindOrSession_isNone() async throws {
        let bus = try await PrivateBus()
        let connection = try bus.connect()
        defer { connection.close() }
        let deadline = Deadline(after: Patience.limit)
        await #expect(throws: BusError.self) { try await SessionLeader().subject(on: connection, until: deadline) }
        let logind = try await FakeLogind(hasSession: false)
        await #expect(throws: BusError.self) { try await subject(logind) }
    }

    /// The leader exits while the person answers, and another process takes its place.
    @Test
    @BusActor
    func authenticate_leaderChangesMeanwhile_provesNothing() async throws {
        let bus = try await PrivateBus()
        let logind = try await FakeLogind(on: bus)
        let polkit = try FakePolkit(on: bus, .challenge)
        defer { polkit.crash() }
        let leaders = [try await ForeignProcess(), try await ForeignProcess()]
        try await logind.setLeader(leaders[0].id)
        try await logind.setDisplay("c1")
        polkit.answerToDialog = .hang
        let system = SystemBus(address: bus.address, timeout: Patience.limit, logger: .silent)
        defer { system.close() }
        let dialog = PolkitDialog(bus: system, limits: .patient, logger: .silent)
        let first = dialog.authenticate("")
        _ = try await polkit.questions.first("the dialog") { $0.flags == 1 }
        polkit.answerHanging(with: .authorized)
        #expect(await first.outcome() == nil)

        let count = polkit.questions.count
        let second = dialog.authenticate("")
        _ = try await polkit.questions.first("the dialog", after: count) { $0.flags == 1 }
        try await logind.setLeader(leaders[0].id == leaders[1].id ? getpid() : leaders[1].id)
        polkit.answerHanging(with: .authorized)
        #expect(await second.outcome()?.code == .notInteractive)
    }
}
