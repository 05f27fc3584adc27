package import KeychainModel

/// An event that the owner may want to review: a release, a denial, an authentication.
///
/// It names the item by its object path; it holds no label, attribute or secret.
package struct AuditEntry: Equatable, Sendable {
    /// The kind of event.
    package enum Kind: UInt8, CaseIterable, Sendable {
        /// A secret was released.
        case release = 1

        /// A secret was denied.
        case denial = 2

        /// A person was asked to authenticate, to use an item or without one.
        case authentication = 3

        /// The access control of an item was set or changed.
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

        /// A person was asked to authenticate for a deletion.
        case authenticationToDelete = 10
    }

    /// The most entries in all rings.
    package static var maximumCount: Int { AuditRing.allCases.reduce(0) { $0 + $1.capacity } }

    /// The most bytes of a text; longer ones are truncated.
    package static let maximumTextBytes = 1024

    /// The time of the event.
    package let time: Timestamp

    /// The kind of event.
    package let kind: Kind

    /// The caller, and how it was identified.
    package let caller: String

    /// The object path of the item, if any.
    package let item: String

    /// The required factors.
    package let policy: String

    /// The outcome.
    package let outcome: String

    /// Creates an entry; long texts are truncated.
    package init(
        time: Timestamp,
        kind: Kind,
        caller: String = "",
        item: String = "",
        policy: String = "",
        outcome: String = ""
    ) {
        self.time = time
        self.kind = kind
        self.caller = Self.cut(caller)
        self.item = Self.cut(item)
        self.policy = Self.cut(policy)
        self.outcome = Self.cut(outcome)
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > maximumTextBytes else { return text }
        // A truncated character becomes a replacement character of three bytes.
        return String(decoding: text.utf8.prefix(maximumTextBytes - 3), as: UTF8.self)
    }
}

extension AuditEntry {
    /// The plaintext: time (8), kind (1), then length (2) and text of caller, item, policy and outcome.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: time.microsecondsSinceEpoch)
        bytes.append(kind.rawValue)
        for text in [caller, item, policy, outcome] {
            bytes.append(bigEndian: UInt16(clamping: text.utf8.count))
            bytes += text.utf8
        }
        return bytes
    }

    /// Decodes the plaintext; nil when it is invalid.
    init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let time = reader.integer(Int64.self), let kind = reader.integer(UInt8.self).flatMap(Kind.init) else {
            return nil
        }
        var texts: [String] = []
        for _ in 0..<4 {
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
            outcome: texts[3]
        )
    }
}

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
