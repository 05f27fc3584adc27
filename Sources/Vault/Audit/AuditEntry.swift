package import KeychainModel

/// Something that the owner may want to know afterwards: who got an item, who did not, and who was asked.
///
/// It names the item by its path and has no label, no attribute and no secret.
package struct AuditEntry: Equatable, Sendable {
    /// What happened.
    package enum Kind: UInt8, CaseIterable, Sendable {
        /// A secret was given out.
        case release = 1

        /// A secret was not given out.
        case denial = 2

        /// A person was asked to authenticate, for the use of an item or for no item.
        case authentication = 3

        /// Who may have an item was set or changed.
        case accessControlChange = 4

        /// Entries could not be kept; the outcome says how many.
        case lost = 5

        /// A protected item was given another secret, or other words about it.
        case change = 6

        /// A protected item was deleted, or a collection with some.
        case deletion = 7

        /// A person was asked to authenticate for a change of an item that keeps its protection.
        case authenticationToChange = 8

        /// A person was asked to authenticate for a change of who may have an item.
        case authenticationToProtect = 9

        /// A person was asked to authenticate for the deletion of an item.
        case authenticationToDelete = 10
    }

    /// How many entries are kept, in all rings.
    package static var maximumCount: Int { AuditRing.allCases.reduce(0) { $0 + $1.capacity } }

    /// The longest text, in bytes; what is longer is cut.
    package static let maximumTextBytes = 1024

    /// When it happened.
    package let time: Timestamp

    /// What happened.
    package let kind: Kind

    /// Who called, and what that rests on.
    package let caller: String

    /// The path of the item; empty when there is none.
    package let item: String

    /// What had to be proved.
    package let policy: String

    /// What came of it.
    package let outcome: String

    /// Makes an entry, and cuts texts that are too long.
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
        // A character that is cut in two becomes a replacement character of three bytes.
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

    /// Reads the plaintext; nil when it has another form.
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
