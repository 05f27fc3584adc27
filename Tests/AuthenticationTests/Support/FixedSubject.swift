import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport

/// One process instead of the leader of a session.
struct FixedSubject: PolkitSubjectFinder {
    private let subject: PolkitSubject

    nonisolated init(_ subject: PolkitSubject) {
        self.subject = subject
    }

    func subject(on connection: Connection, until deadline: Deadline) async throws(BusError) -> PolkitSubject {
        subject
    }
}

extension PolkitSubjectFinder where Self == FixedSubject {
    /// A process that only a fake polkit accepts.
    nonisolated static var fake: FixedSubject { FixedSubject(.process(id: 1, startTime: 1, user: 1000)) }
}

extension RealPolkit {
    /// The process of `nobody`.
    var subject: PolkitSubject { .process(id: UInt32(process.id), startTime: startTime, user: RealPolkit.user) }
}
