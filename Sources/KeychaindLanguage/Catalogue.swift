/// A compiled catalogue of gettext (`msgfmt`), read with bounds.
///
/// libc's own reader trusts the file: a wrong offset ends the process, and so does a division by zero in the plural
/// rule (docs/decisions/0133-catalogues-are-read-here.md).
package struct Catalogue: Sendable {
    private let bytes: [UInt8]
    private let isBigEndian: Bool
    private let count: Int
    private let originals: Int
    private let translations: Int
    private var plurals: PluralRule?

    /// In bytes; our largest have a twentieth of that.
    package static let limit = 4 << 20

    /// Nil if the bytes are no catalogue.
    ///
    /// Any other damage shows as missing translations.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Catalogue.limit, bytes.count >= 28 else { return nil }
        switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        case (0xDE, 0x12, 0x04, 0x95): isBigEndian = false
        case (0x95, 0x04, 0x12, 0xDE): isBigEndian = true
        default: return nil
        }
        self.bytes = bytes
        let numbers = stride(from: 4, to: 20, by: 4).map { [isBigEndian] offset in
            Catalogue.number(in: bytes, at: offset, isBigEndian)
        }
        // Another major version has another format.
        guard numbers[0] >> 16 <= 1 else { return nil }
        count = numbers[1]
        originals = numbers[2]
        translations = numbers[3]
        guard count <= bytes.count / 16, originals <= bytes.count - count * 8, translations <= bytes.count - count * 8
        else { return nil }
        plurals = nil
        guard let header = translation(ofKey: []).map({ String(decoding: $0, as: UTF8.self) }) else { return }
        plurals = PluralRule(header: header)
    }

    /// The translation of a sentence; nil if there is none.
    func translation(of key: String, plural: String?, context: String?, count: UInt64?) -> [UInt8]? {
        // The empty key is the header's.
        guard !key.isEmpty else { return nil }
        var wanted = Array(key.utf8)
        if let context { wanted = Array(context.utf8) + [0x04] + wanted }
        if let plural { wanted += [0] + Array(plural.utf8) }
        guard let found = translation(ofKey: wanted) else { return nil }
        let forms = found.split(separator: 0, omittingEmptySubsequences: false)
        guard let count else { return forms.count == 1 ? Array(found) : nil }
        guard let plurals, forms.count == plurals.forms, let index = plurals.form(for: count) else { return nil }
        return Array(forms[index])
    }

    /// Finds the exact key, with the plural after a NUL, in the sorted table.
    private func translation(ofKey key: [UInt8]) -> ArraySlice<UInt8>? {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            guard let original = text(originals, middle) else { return nil }
            if original.elementsEqual(key) { return text(translations, middle) }
            if original.lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    private func text(_ table: Int, _ index: Int) -> ArraySlice<UInt8>? {
        let length = number(at: table + index * 8)
        let start = number(at: table + index * 8 + 4)
        guard start <= bytes.count, length <= bytes.count - start else { return nil }
        return bytes[start..<(start + length)]
    }

    private func number(at offset: Int) -> Int {
        Catalogue.number(in: bytes, at: offset, isBigEndian)
    }

    private static func number(in bytes: [UInt8], at offset: Int, _ isBigEndian: Bool) -> Int {
        let four = bytes[offset..<(offset + 4)]
        return isBigEndian
            ? four.reduce(0) { $0 << 8 | Int($1) } : four.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
