/// Which entries of the audit push each other out once there are too many.
package enum AuditRing: CaseIterable, Sendable {
    /// What takes a person: a release, say, for which somebody has authenticated.
    case attended

    /// What any program can bring about by itself, as often as it likes: a denial, say.
    case unattended

    /// How many entries are kept.
    package var capacity: Int {
        switch self {
        case .attended: 8000
        case .unattended: 2000
        }
    }
}
