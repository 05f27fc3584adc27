/// The canonical spelling of the values of an attribute in an item.
enum AttributeForm: Hashable, Sendable {
    case text

    /// Lower-case hexadecimal.
    case data

    /// Decimal, within bounds.
    case number(ClosedRange<Int64>)

    /// `true` or `false`, as in libsecret.
    case boolean

    /// Apple's codes, under common names.
    case protocolName, schemeName, keyClassName, keyTypeName

    /// Nil if the value does not fit.
    func text(_ value: KeychainValue) -> String? {
        switch (self, value) {
        case (.text, .text(let text)): text.utf8.contains(0) ? nil : text
        case (.data, .data(let bytes)): Self.hexadecimal(bytes)
        case (.number(let range), .number(let number)): range.contains(number) ? String(number) : nil
        case (.boolean, .boolean(let boolean)): boolean ? "true" : "false"
        case (.protocolName, .text(let code)): InternetProtocol(code: code)?.rawValue
        case (.schemeName, .text(let code)): AuthenticationScheme(code: code)?.rawValue
        case (.keyClassName, .text(let code)): KeyClass(code: code)?.rawValue
        case (.keyTypeName, .text(let code)): KeyType(code: code)?.rawValue
        default: nil
        }
    }

    /// Nil if the spelling is not canonical.
    func value(_ text: String) -> KeychainValue? {
        let value: KeychainValue? =
            switch self {
            case .text: .text(text)
            case .data: Self.bytes(text).map(KeychainValue.data)
            case .number: Int64(text).map(KeychainValue.number)
            case .boolean: text == "true" || text == "false" ? .boolean(text == "true") : nil
            case .protocolName: InternetProtocol(rawValue: text).map { .text($0.code) }
            case .schemeName: AuthenticationScheme(rawValue: text).map { .text($0.code) }
            case .keyClassName: KeyClass(rawValue: text).map { .text($0.code) }
            case .keyTypeName: KeyType(rawValue: text).map { .text($0.code) }
            }
        // Rejects other spellings of the value, such as "080".
        guard let value, let spelling = self.text(value), spelling.utf8.elementsEqual(text.utf8) else { return nil }
        return value
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 2)
        for index in stride(from: 0, to: characters.count, by: 2) {
            guard let high = digits.firstIndex(of: characters[index]),
                let low = digits.firstIndex(of: characters[index + 1])
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}
