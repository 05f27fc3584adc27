import KeychaindModel

/// The path element of an alias, encoded as labels are in collection names (#10).
enum AliasElement {
    static func encode(_ alias: String) -> String { LabelEncoding.encode(alias) }

    /// The aliases that an element can mean: itself, as clients write simple names, and its decoding.
    static func decodings(of element: String) -> [String] {
        var bytes: [UInt8] = []
        var rest = Substring(element).utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "_") else {
                bytes.append(byte)
                continue
            }
            guard let value = UInt8(String(Substring(rest.prefix(2))), radix: 16), rest.count >= 2 else {
                return [element]
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self), decoded != element else { return [element] }
        return [element, decoded]
    }
}
