/// The canonical spelling of the values of an attribute in an item.
enum AttributeForm: Hashable, Sendable {
    case text

    /// Text as it is; data that is no text as a ``DataURL``.
    case textOrData

    /// Lower-case hexadecimal.
    case data

    /// Data or the UTF-8 of a text, in hexadecimal.
    case dataOrText

    /// Decimal, within bounds.
    case number(ClosedRange<Int64>)

    /// `true` or `false`, as in libsecret.
    case boolean

    /// Apple's codes, under common names.
    case protocolName, schemeName, keyClassName, keyTypeName, keyTokenName

    /// Nil if the value does not fit.
    func text(_ value: KeychainValue) -> String? {
        switch (self, value) {
        case (.text, .text(let text)): text.utf8.contains(0) ? nil : text
        case (.textOrData, .text(let text)): text.utf8.contains(0) ? DataURL.encode(Array(text.utf8)) : text
        case (.textOrData, .data(let bytes)): DataURL.encode(bytes)
        case (.data, .data(let bytes)), (.dataOrText, .data(let bytes)): Hexadecimal.text(bytes)
        case (.dataOrText, .text(let text)): Hexadecimal.text(Array(text.utf8))
        case (.number(let range), .number(let number)): range.contains(number) ? String(number) : nil
        case (.boolean, .boolean(let boolean)): boolean ? "true" : "false"
        case (.protocolName, .text(let code)): InternetProtocol(code: code)?.rawValue
        case (.schemeName, .text(let code)): AuthenticationScheme(code: code)?.rawValue
        case (.keyClassName, .text(let code)): KeyClass(code: code)?.rawValue
        case (.keyTypeName, .text(let code)): KeyType(code: code)?.rawValue
        case (.keyTokenName, .text(let code)): KeyTokenName(code: code)?.rawValue
        default: nil
        }
    }

    /// Nil if the spelling is not canonical.
    ///
    /// - Parameter hasOtherType: whether the program gave data for a ``textOrData``, or text for a ``dataOrText``.
    func value(_ text: String, hasOtherType: Bool = false) -> KeychainValue? {
        let value: KeychainValue? =
            switch self {
            case .text: .text(text)
            case .textOrData: Self.textOrData(text, isData: hasOtherType)
            case .data: Hexadecimal.bytes(Array(text.utf8)).map(KeychainValue.data)
            case .dataOrText: Hexadecimal.bytes(Array(text.utf8)).map { Self.dataOrText($0, isText: hasOtherType) }
            case .number: Int64(text).map(KeychainValue.number)
            case .boolean: text == "true" || text == "false" ? .boolean(text == "true") : nil
            case .protocolName: InternetProtocol(rawValue: text).map { .text($0.code) }
            case .schemeName: AuthenticationScheme(rawValue: text).map { .text($0.code) }
            case .keyClassName: KeyClass(rawValue: text).map { .text($0.code) }
            case .keyTypeName: KeyType(rawValue: text).map { .text($0.code) }
            case .keyTokenName: KeyTokenName(rawValue: text).map { .text($0.code) }
            }
        // Rejects other spellings of the value, such as "080".
        guard let value, let spelling = self.text(value), spelling.utf8.elementsEqual(text.utf8) else { return nil }
        return value
    }

    /// Whether a value has the less common type of the attribute.
    func isOtherType(_ value: KeychainValue) -> Bool {
        switch (self, value) {
        case (.textOrData, .data), (.dataOrText, .text): true
        default: false
        }
    }

    private static func textOrData(_ text: String, isData: Bool) -> KeychainValue {
        let bytes = DataURL.decode(text)
        guard !isData else { return .data(bytes ?? Array(text.utf8)) }
        return .text(bytes.flatMap { String(validating: $0, as: UTF8.self) } ?? text)
    }

    private static func dataOrText(_ bytes: [UInt8], isText: Bool) -> KeychainValue {
        guard isText, let text = String(validating: bytes, as: UTF8.self) else { return .data(bytes) }
        return .text(text)
    }
}
