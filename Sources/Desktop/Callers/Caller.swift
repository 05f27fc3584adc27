/// Who has called, as far as can be seen, and what that rests on.
package struct Caller: Hashable, Sendable {
    /// What looking into the process has shown.
    package enum Insight: Hashable, Sendable {
        case process(CallerProcess)
        /// It has called the desktop portal, which knows what is in which sandbox, and says that this is its id; it may be empty.
        case portal(application: String)
        /// It cannot be looked into, which is no error: the reason is for a person.
        case opaque(reason: String)
    }

    /// The connection's name on the bus, such as `:1.42`.
    package let uniqueName: String

    /// The user that the bus has seen, if it tells.
    package let userID: UInt32?

    /// What can be said of the process.
    package let insight: Insight

    /// Creates a value from what was found.
    package init(uniqueName: String, userID: UInt32? = nil, insight: Insight) {
        self.uniqueName = uniqueName
        self.userID = userID
        self.insight = insight
    }

    /// A caller of whom nothing is known.
    package static func opaque(_ uniqueName: String, userID: UInt32? = nil, reason: String) -> Caller {
        Caller(uniqueName: uniqueName, userID: userID, insight: .opaque(reason: reason))
    }

    /// The process, if it could be looked into.
    package var process: CallerProcess? {
        if case .process(let process) = insight { process } else { nil }
    }

    /// What it all rests on.
    package var evidence: CallerEvidence {
        switch insight {
        case .process(let process): process.evidence
        case .portal: .desktopPortal
        case .opaque: .nothing
        }
    }

    /// What stays the same each time the same application calls, for values that are to differ from one application to the next;
    /// nil if it cannot be told which application this is.
    ///
    /// No secret, and no proof: see ``evidence``.
    package var applicationIdentity: String? {
        process?.applicationIdentity
    }
}

extension Caller: CustomStringConvertible {
    /// The caller in a prompt's words, such as `“/usr/bin/secret-tool” (process 1234)`: on one line, cleaned and cut.
    package var description: String {
        switch insight {
        case .process(let process): process.description
        case .portal(""): "an application without a name"
        case .portal(let application): "the application “\(PromptText.name(application))”"
        case .opaque(let reason): "an unknown program (\(reason))"
        }
    }
}
