#if Keys
import Foundation
import SwiftASN1

/// The conditions of a query on certificates: the keys `kSecMatch…` that look into them.
struct CertificateConditions: Sendable {
    /// A text that a part of the subject must have.
    private struct SubjectText: Sendable {
        let text: String
        let place: Place
    }

    private enum Place: Sendable {
        case anywhere, start, end, whole
    }

    private var subjects: [SubjectText] = []
    private var folding: String.CompareOptions = []
    private var email: String?
    private var date: Date?

    /// The names of issuers, one of which must be in the chain of the certificate.
    private(set) var issuers: [DistinguishedName] = []

    /// Whether no issuer was named, which no certificate meets.
    private var hasNoIssuer = false

    init() {}

    /// Takes the conditions from a query.
    init(_ unread: inout [String: QueryValue], ignoresCase: Bool) throws(StatusError) {
        let places: [(CFString, Place)] = [
            (kSecMatchSubjectContains, .anywhere), (kSecMatchSubjectStartsWith, .start),
            (kSecMatchSubjectEndsWith, .end), (kSecMatchSubjectWholeString, .whole),
        ]
        for (key, place) in places {
            guard let text = try Self.text(key, &unread) else { continue }
            subjects.append(SubjectText(text: text, place: place))
        }
        email = try Self.text(kSecMatchEmailAddressIfPresent, &unread)
        if ignoresCase { folding.insert(.caseInsensitive) }
        if try Self.flag(kSecMatchDiacriticInsensitive, &unread) { folding.insert(.diacriticInsensitive) }
        if try Self.flag(kSecMatchWidthInsensitive, &unread) { folding.insert(.widthInsensitive) }
        if try Self.flag(kSecMatchTrustedOnly, &unread) {
            throw StatusError(errSecUnimplemented, "trust is not evaluated; use a TLS library")
        }
        try readDate(&unread)
        try readIssuers(&unread)
    }

    var isEmpty: Bool { subjects.isEmpty && email == nil && date == nil && issuers.isEmpty && !hasNoIssuer }

    /// Whether a certificate meets the conditions, those on issuers aside.
    func areMet(by certificate: SecCertificate) -> Bool {
        guard !hasNoIssuer else { return false }
        let contents = certificate.contents
        let names = contents.subject.attributes.map(\.text)
        guard subjects.allSatisfy({ wanted in names.contains { isFound(wanted, in: $0) } }) else { return false }
        let addresses = contents.emailAddresses
        if let email, !addresses.isEmpty, !addresses.contains(where: { isEqual($0, email) }) { return false }
        guard let date else { return true }
        return contents.validity.contains(date)
    }

    /// Whether a name is one of the issuers.
    func isIssuer(_ name: DistinguishedName) -> Bool {
        issuers.contains { $0.isSame(as: name) }
    }

    private func isFound(_ wanted: SubjectText, in name: String) -> Bool {
        let options =
            switch wanted.place {
            case .anywhere: folding
            case .start, .whole: folding.union(.anchored)
            case .end: folding.union([.anchored, .backwards])
            }
        guard let range = name.range(of: wanted.text, options: options) else { return false }
        return wanted.place != .whole || range.upperBound == name.endIndex
    }

    /// Compares addresses, whose case does not count in practice.
    private func isEqual(_ first: String, _ second: String) -> Bool {
        first.caseInsensitiveCompare(second) == .orderedSame
    }

    private mutating func readDate(_ unread: inout [String: QueryValue]) throws(StatusError) {
        guard let value = unread.removeValue(forKey: kSecMatchValidOnDate as String) else { return }
        switch value {
        case .date(let date): self.date = date
        // Null stands for the present.
        case .missing: date = Date()
        case .object(let object) where object is NSNull: date = Date()
        default: throw StatusError(errSecParam, "kSecMatchValidOnDate is not a date")
        }
    }

    private mutating func readIssuers(_ unread: inout [String: QueryValue]) throws(StatusError) {
        guard let value = unread.removeValue(forKey: kSecMatchIssuers as String) else { return }
        guard case .object(let object) = value, let list = object as? NSArray else {
            throw StatusError(errSecParam, "kSecMatchIssuers is not an array")
        }
        for element in list {
            guard case .data(let der) = QueryValue(element),
                let name = try? DistinguishedName(ASN1Node.parse(der, limit: 1 << 16))
            else { throw StatusError(errSecParam, "kSecMatchIssuers has an element that is not a name in DER") }
            issuers.append(name)
        }
        hasNoIssuer = issuers.isEmpty
    }

    private static func text(
        _ key: CFString,
        _ unread: inout [String: QueryValue]
    ) throws(StatusError) -> String? {
        guard let value = unread.removeValue(forKey: key as String) else { return nil }
        guard case .text(let text) = value, !text.isEmpty else { throw StatusError(errSecParam, "\(key) is not text") }
        return text
    }

    private static func flag(_ key: CFString, _ unread: inout [String: QueryValue]) throws(StatusError) -> Bool {
        guard let value = unread.removeValue(forKey: key as String) else { return false }
        guard let flag = value.flag else { throw StatusError(errSecParam, "\(key) is neither true nor false") }
        return flag
    }
}

extension DistinguishedName {
    /// Whether both have the same attributes; case and repeated spaces do not count (RFC 5280, section 7.1).
    ///
    /// So normalized names match, too.
    func isSame(as other: DistinguishedName) -> Bool {
        guard der != other.der else { return true }
        guard !attributes.isEmpty, attributes.count == other.attributes.count else { return false }
        return zip(attributes, other.attributes).allSatisfy { first, second in
            first.type == second.type && Self.folded(first.text) == Self.folded(second.text)
        }
    }

    private static func folded(_ text: String) -> String {
        text.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

extension CertificateValidity {
    /// Whether a time lies in the period; false if one of the dates is malformed.
    func contains(_ date: Date) -> Bool {
        guard let start, let end, start <= end else { return false }
        return (start...end).contains(date.timeIntervalSince1970)
    }
}
#endif
