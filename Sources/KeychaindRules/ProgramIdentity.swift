package import KeychaindModel

/// The name of a program in rules, by what identifies it.
package struct ProgramIdentity: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        /// A Flatpak, by the id of its application.
        case flatpak

        /// A Snap, by its name.
        case snap

        /// Another sandbox, by its security label.
        case label

        /// A program file, by its path.
        case program

        /// A script, by the path that its interpreter was given.
        case script

        /// A systemd unit, or the desktop application that it was started for.
        case unit

        /// The strength of good evidence for such an identity; a chain of programs is only said.
        package var strength: Strength {
            switch self {
            case .flatpak, .snap, .label: .proven
            case .program: .likely
            case .script, .unit: .said
            }
        }
    }

    package let kind: Kind
    package let name: String

    /// Nil for an empty name, and for one with a null character, which no program can have.
    package init?(_ kind: Kind, _ name: String) {
        guard !name.isEmpty, !name.utf8.contains(0) else { return nil }
        self.kind = kind
        self.name = name
    }

    /// Parses `KIND:NAME`.
    package init?(_ text: some StringProtocol) {
        guard let colon = text.firstIndex(of: ":"), let kind = Kind(rawValue: String(text[..<colon])) else {
            return nil
        }
        self.init(kind, String(text[text.index(after: colon)...]))
    }

    /// The identity as `KIND:NAME`, with any characters; ``Rule/text`` is fit for display.
    package var text: String { "\(kind.rawValue):\(name)" }
}

/// An identity of a caller, and how good the evidence is.
package struct IdentityClaim: Hashable, Sendable {
    package let identity: ProgramIdentity

    package let strength: Strength

    /// What the evidence must withstand before the claim counts in the caller's favour.
    package let needed: Strength

    package init(_ identity: ProgramIdentity, _ strength: Strength, needed: Strength) {
        self.identity = identity
        self.strength = strength
        self.needed = needed
    }

    /// Whether the claim counts for rules that let the caller do something.
    package var isGood: Bool { strength >= needed }
}

/// The programs behind a call, as rules see them.
package struct RuleCaller: Hashable, Sendable {
    /// The identities of the caller's own program; empty if nothing identifies it.
    package let claims: [IdentityClaim]

    /// The identity of the program that the caller works for, if it works for one; always only said.
    package let principal: ProgramIdentity?

    /// The identity of the program around them, such as a terminal; always only said.
    package let place: ProgramIdentity?

    package init(_ claims: [IdentityClaim], for principal: ProgramIdentity? = nil, in place: ProgramIdentity? = nil) {
        self.claims = claims
        self.principal = principal
        self.place = place
    }

    /// The claim that a rule for this caller is made about; nil if nothing identifies it.
    package var main: IdentityClaim? { claims.first }
}
