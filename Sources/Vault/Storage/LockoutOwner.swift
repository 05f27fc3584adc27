package import KeychainModel

/// Who has brought a password: what one of them gets wrong costs the other no time.
package enum LockoutParty: String, Sendable {
    /// A person, asked by a dialog.
    case people

    /// A program, on the bus or at the socket for logins: no person need know of it.
    case programs
}

/// What failed attempts are counted for; each has a record of its own.
package enum LockoutOwner: Hashable, Sendable {
    /// The passcode, and touches, as people have given them when asked by a dialog.
    case people

    /// The passcode as programs have brought it.
    case programs

    /// The password of another collection, by the collection's identifier.
    case collection([UInt8], LockoutParty)

    /// The password of an item's own, by the identifier of its collection and its number there, which no other item gets.
    case item(ItemID, [UInt8])

    /// All other passwords, once as many as there is room for have a record of their own.
    case others

    /// The passcode, as one of the parties gives it.
    package static func passcode(_ party: LockoutParty) -> LockoutOwner {
        switch party {
        case .people: .people
        case .programs: .programs
        }
    }

    /// The identifier of the collection that the record goes with; nil for one that stays.
    var collection: [UInt8]? {
        switch self {
        case .people, .programs, .others: nil
        case .collection(let identifier, _), .item(_, let identifier): identifier
        }
    }
}

extension LockoutOwner {
    /// What all names of records begin with.
    static let prefix = "lockout"

    private static let collectionPrefix = "lockout of collection "
    private static let itemPrefix = "lockout of item "

    /// The record's name on the disk.
    var name: String {
        switch self {
        case .people: Self.prefix
        case .programs: "lockout of programs"
        case .others: "lockout of others"
        case .collection(let identifier, let party):
            "\(Self.collectionPrefix)\(Self.text(identifier)) \(party.rawValue)"
        case .item(let item, let identifier): "\(Self.itemPrefix)\(Self.text(identifier)) \(item)"
        }
    }

    /// Reads a name; nil when it is none.
    init?(name: String) {
        for owner in [LockoutOwner.people, .programs, .others] where owner.name == name {
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

    private static func text(_ bytes: [UInt8]) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
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
