package import KeychaindModel

/// The source of a password; failed attempts of one do not slow the other.
package enum LockoutParty: String, Sendable {
    case people

    /// A program, on the bus or at the login socket.
    case programs
}

package enum LockoutOwner: Hashable, Sendable {
    /// The passcode and touches from a person in a dialog.
    case people

    /// The passcode from programs.
    case programs

    /// The password of another collection, by the collection's identifier.
    case collection([UInt8], LockoutParty)

    /// An application password, by item ID and the collection's identifier.
    case item(ItemID, [UInt8])

    /// All other passwords, when there are too many records.
    case others

    /// The highest count that was dropped to make room for another one of the same party.
    case dropped(LockoutParty)

    package static func passcode(_ party: LockoutParty) -> LockoutOwner {
        switch party {
        case .people: .people
        case .programs: .programs
        }
    }

    /// Whose attempts are counted; both parties' are for an application password.
    package var party: LockoutParty {
        switch self {
        case .people: .people
        case .programs, .item, .others: .programs
        case .collection(_, let party), .dropped(let party): party
        }
    }

    /// The identifier of the collection that the record belongs to; nil for a permanent record.
    var collection: [UInt8]? {
        switch self {
        case .people, .programs, .others, .dropped: nil
        case .collection(let identifier, _), .item(_, let identifier): identifier
        }
    }
}

extension LockoutOwner {
    static let prefix = "lockout"

    private static let collectionPrefix = "lockout of collection "
    private static let itemPrefix = "lockout of item "

    var name: String {
        switch self {
        case .people: Self.prefix
        case .programs: "lockout of programs"
        case .others: "lockout of others"
        case .dropped(let party): "lockout of dropped \(party.rawValue)"
        case .collection(let identifier, let party):
            "\(Self.collectionPrefix)\(identifier.hexadecimal()) \(party.rawValue)"
        case .item(let item, let identifier): "\(Self.itemPrefix)\(identifier.hexadecimal()) \(item)"
        }
    }

    /// Those that always exist.
    static let permanent: [LockoutOwner] = [.people, .programs, .others, .dropped(.people), .dropped(.programs)]

    init?(name: String) {
        for owner in Self.permanent where owner.name == name {
            self = owner
            return
        }
        let words = name.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 5, let identifier = Self.bytes(words[3]) else { return nil }
        if name.hasPrefix(Self.collectionPrefix), let party = LockoutParty(rawValue: String(words[4])) {
            self = .collection(identifier, party)
        } else if name.hasPrefix(Self.itemPrefix), let item = UInt64(words[4]).flatMap(ItemID.init(rawValue:)) {
            self = .item(item, identifier)
        } else {
            return nil
        }
    }

    private static func bytes(_ text: Substring) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2), digits.count <= 64 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }
}
