import Glibc

/// The languages that an environment asks for, as gettext(3) reads it.
package struct LocaleNames: Hashable, Sendable {
    /// Such as `de_AT` or `sr@latin`, the preferred one first; empty for none, as in the locale `C`.
    package let names: [String]

    package static let variables = ["LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"]

    private static let largestNumber = 8

    package init(_ variable: (String) -> String?) {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap(variable).first { !$0.isEmpty } ?? ""
        // Programs that want the language of the source say so by this locale; it is nobody's language.
        guard locale != "", locale != "POSIX", locale.prefix(while: { $0 != "." }) != "C" else {
            names = []
            return
        }
        let list = variable("LANGUAGE").flatMap { $0.isEmpty ? nil : $0 } ?? locale
        names = list.split(separator: ":").prefix(LocaleNames.largestNumber).compactMap(LocaleNames.checked)
    }

    /// The variables of this process.
    package static var ofProcess: LocaleNames {
        LocaleNames { name in getenv(name).map { String(cString: $0) } }
    }

    /// The catalogues that serve a name, the closest first: of `sr_RS@latin` these are `sr_RS@latin`, `sr@latin`,
    /// `sr_RS` and `sr`.
    static func catalogues(for name: String) -> [String] {
        let parts = name.split(separator: "@", maxSplits: 1).map(String.init)
        guard let place = parts.first else { return [] }
        let language = String(place.prefix { $0 != "_" })
        let places = place == language ? [language] : [place, language]
        return (parts.count == 2 ? places.map { "\($0)@\(parts[1])" } : []) + places
    }

    /// The name without its encoding; nil unless it is a name and cannot be a path.
    private static func checked(_ name: Substring) -> String? {
        var text = ""
        var isEncoding = false
        for character in name {
            if character == "." { isEncoding = true } else if character == "@" { isEncoding = false }
            if !isEncoding { text.append(character) }
        }
        let isName = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "@"), UInt8(ascii: "-"): true
            default: false
            }
        }
        return isName && (2...32).contains(text.utf8.count) ? text : nil
    }
}
