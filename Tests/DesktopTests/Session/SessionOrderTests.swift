import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Testing

/// The state after changes of the user's sessions, in each order, however many of their signals come at once.
@Suite(.onLoop)
struct SessionOrderTests {
    /// A change of logind's, with its signal.
    enum Change: Hashable {
        /// The second session begins.
        case new
        /// The second session becomes the user's display session.
        case display
        /// The screen of the second session is locked.
        case locked
        /// The first session ends.
        case removed
        /// The user has no display session any more.
        case noDisplay
    }

    /// Sessions before the changes, the changes, and what must hold after them.
    struct Row: CustomTestStringConvertible {
        let title: String
        /// Whether there is a first session, which is the user's display session.
        let hasFirst: Bool
        /// Whether the second session has begun.
        let hasSecond: Bool
        let changes: [Change]
        let state: SessionState

        var testDescription: String { title }
    }

    static let table = [
        Row(
            title: "the first session of a lingering user",
            hasFirst: false,
            hasSecond: false,
            changes: [.new, .display],
            state: .unlocked
        ),
        Row(
            title: "a second session becomes the display session",
            hasFirst: true,
            hasSecond: false,
            changes: [.new, .display],
            state: .unlocked
        ),
        Row(
            title: "the first session ends as the second begins",
            hasFirst: true,
            hasSecond: false,
            changes: [.new, .display, .removed],
            state: .unlocked
        ),
        Row(
            title: "the second session takes over, locked",
            hasFirst: true,
            hasSecond: true,
            changes: [.locked, .display, .removed],
            state: .locked
        ),
        Row(
            title: "the last session of a lingering user ends",
            hasFirst: true,
            hasSecond: false,
            changes: [.removed, .noDisplay],
            state: .unknown
        ),
    ]

    @Test(arguments: table) @BusActor
    func changes_inAnyOrderAndPacking_endInLogindsState(row: Row) async throws {
        let logind = try await FakeLogind(hasSession: false)
        try await logind.addSession("other")
        for (number, groups) in row.changes.permutations.flatMap(\.packings).enumerated() {
            let (first, second) = ("\(number)a", "\(number)b")
            try await logind.setDisplay(nil)
            if row.hasFirst {
                try await logind.addSession(first)
                try await logind.setDisplay(first)
            }
            if row.hasSecond { try await logind.addSession(second) }
            let fixture = SessionFixture(address: logind.bus.address)
            defer { fixture.end() }
            if row.hasFirst {
                try await fixture.waitUntilWatching(first)
            } else {
                _ = try await fixture.lines.first("the warning") { $0.text.contains("no session") }
            }
            for group in groups {
                try await logind.atOnce {
                    for change in group {
                        switch change {
                        case .new:
                            try await logind.addSession(second)
                            try await logind.emitSession("SessionNew", second)
                        case .display: try await logind.setDisplay(second)
                        case .locked: try await logind.setLockedHint(true, of: second)
                        case .removed: try await logind.endSession(first)
                        case .noDisplay: try await logind.setDisplay(nil)
                        }
                    }
                }
                try await fixture.settle()
            }
            try await eventually("\(row.state) after \(groups)") { fixture.monitor.state == row.state }
            // What comes next is noticed, too.
            guard row.state != .unknown else { continue }
            try await fixture.waitUntilWatching(second)
            try await logind.setLockedHint(true, of: second)
            try await fixture.expect(.locked)
            try await logind.removeSession(second)
            try await fixture.expect(.ended)
        }
    }
}

extension Array {
    /// All orders of the elements.
    var permutations: [[Element]] {
        guard let first else { return [[]] }
        return Array(dropFirst()).permutations.flatMap { rest in
            (0...rest.count).map { index in
                var order = rest
                order.insert(first, at: index)
                return order
            }
        }
    }

    /// All ways to divide the elements into groups of neighbours.
    var packings: [[[Element]]] {
        guard let first else { return [[]] }
        return Array(dropFirst()).packings.flatMap { rest -> [[[Element]]] in
            guard let group = rest.first else { return [[[first]]] }
            return [[[first]] + rest, [[first] + group] + rest.dropFirst()]
        }
    }
}
