/// A ring of audit entries; a new entry replaces only entries of its own ring.
package enum AuditRing: CaseIterable, Sendable {
    /// Events that need a person, such as an authenticated release.
    case attended

    /// Events that a program can cause at will, such as a denial.
    case unattended

    /// The most entries.
    package var capacity: Int {
        switch self {
        case .attended: 8000
        case .unattended: 2000
        }
    }
}
