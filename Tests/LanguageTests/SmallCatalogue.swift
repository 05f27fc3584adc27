import KeychaindLanguage

/// A compiled catalogue, written by hand so that it can be wrong.
struct SmallCatalogue {
    var header = "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=(n != 1);\n"
    /// By key; a plural follows its singular after a NUL, and so do the forms.
    var translations: [String: String] = [:]

    var bytes: [UInt8] {
        let entries = (translations.merging(["": header]) { $1 }).sorted {
            Array($0.key.utf8).precedes(Array($1.key.utf8))
        }
        var texts: [UInt8] = []
        var tables: [[UInt8]] = [[], []]
        let start = 28 + entries.count * 16
        for (table, part) in [entries.map(\.key), entries.map(\.value)].enumerated() {
            for text in part {
                tables[table] += number(text.utf8.count) + number(start + texts.count)
                texts += Array(text.utf8) + [0]
            }
        }
        let head = [0x9504_12DE, 0, entries.count, 28, 28 + entries.count * 8, 0, start]
        return head.flatMap(number) + tables[0] + tables[1] + texts
    }

    private func number(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    /// The texts in this catalogue's language.
    func language(_ name: String = "de") -> Language {
        Catalogue(bytes).map { Language(name, $0) } ?? .english
    }
}

extension [UInt8] {
    fileprivate func precedes(_ other: [UInt8]) -> Bool { lexicographicallyPrecedes(other) }
}
