package import KeychaindModel

/// An event that the owner may want to review; names the item by its path, without label, attributes or secret.
package struct AuditEntry: Equatable, Sendable {
    package enum Kind: UInt8, CaseIterable, Sendable {
        case release = 1

        case denial = 2

        /// A person was asked to authenticate, to use an item or without one.
        case authentication = 3

        case accessControlChange = 4

        /// Entries were lost; the outcome says how many.
        case lost = 5

        /// The secret, label or attributes of a protected item were changed.
        case change = 6

        /// A protected item was deleted, or a collection with protected items.
        case deletion = 7

        /// A person was asked to authenticate for a change that keeps the protection.
        case authenticationToChange = 8

        /// A person was asked to authenticate for a change of the access control.
        case authenticationToProtect = 9

        case authenticationToDelete = 10

        /// A protected key was used without being released.
        case keyUse = 11

        /// An application's portal secret was imported.
        case portalImport = 12

        /// Rules were added or removed, or a person was asked to.
        case ruleChange = 13
    }

    package static var maximumCount: Int { AuditRing.allCases.reduce(0) { $0 + $1.capacity } }

    /// The most bytes of a text; longer ones are truncated.
    package static let maximumTextBytes = 1024

    package let time: Timestamp

    package let kind: Kind

    /// The caller, and how it was identified.
    package let caller: String

    /// The object path of the item, if any.
    package let item: String

    package let policy: String

    package let outcome: String

    /// The rule that decided, if any.
    package let rule: String

    package init(
        time: Timestamp,
        kind: Kind,
        caller: String = "",
        item: String = "",
        policy: String = "",
        outcome: String = "",
        rule: String = ""
    ) {
        self.time = time
        self.kind = kind
        self.caller = Self.cut(caller)
        self.item = Self.cut(item)
        self.policy = Self.cut(policy)
        self.outcome = Self.cut(outcome)
        self.rule = Self.cut(rule)
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > maximumTextBytes else { return text }
        // A truncated character becomes a replacement character of three bytes.
        return String(decoding: text.utf8.prefix(maximumTextBytes - 3), as: UTF8.self)
    }
}

extension AuditEntry {
    /// The plaintext: time (8), kind (1), then length (2) and text of caller, item, policy, outcome, and the rule if
    /// there is one.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: time.microsecondsSinceEpoch)
        bytes.append(kind.rawValue)
        for text in [caller, item, policy, outcome, rule] {
            bytes.append(bigEndian: UInt16(clamping: text.utf8.count))
            bytes += text.utf8
        }
        return bytes
    }

    init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = FieldReader(bytes)
        guard let time = reader.integer(Int64.self), let kind = reader.integer(UInt8.self).flatMap(Kind.init) else {
            return nil
        }
        var texts: [String] = []
        for _ in 0..<5 {
            guard let text = reader.integer(UInt16.self).flatMap({ length in reader.bytes(Int(length)) }) else {
                return nil
            }
            texts.append(String(decoding: text, as: UTF8.self))
        }
        self.init(
            time: Timestamp(microsecondsSinceEpoch: time),
            kind: kind,
            caller: texts[0],
            item: texts[1],
            policy: texts[2],
            outcome: texts[3],
            rule: texts[4]
        )
    }
}

/// A ring of audit entries; a new entry replaces only entries of its own ring.
package enum AuditRing: CaseIterable, Sendable {
    /// Events that need a person, such as an authenticated release.
    case attended

    /// Events that a program can cause at will, such as a denial.
    case unattended

    package var capacity: Int {
        switch self {
        case .attended: 8000
        case .unattended: 2000
        }
    }
}
