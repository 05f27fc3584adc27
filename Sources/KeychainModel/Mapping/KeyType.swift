/// The algorithms that keys are for: by the names that items have.
package enum KeyType: String, CaseIterable, Hashable, Sendable {
    case rsa, dsa, ec, aes, des, rc2, rc4, cast
    case tripleDES = "3des"

    /// Apple's code, the value of `kSecAttrKeyType`.
    package var code: String {
        switch self {
        case .rsa: "42"
        case .dsa: "43"
        case .ec: "73"
        case .aes: "2147483649"
        case .des: "14"
        case .tripleDES: "17"
        case .rc2: "23"
        case .rc4: "25"
        case .cast: "28"
        }
    }

    /// Takes Apple's code; nil if it is none.
    package init?(code: String) {
        guard let found = KeyType.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}
