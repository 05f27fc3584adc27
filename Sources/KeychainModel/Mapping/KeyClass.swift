/// What a key is for: by the names that items have.
package enum KeyClass: String, CaseIterable, Hashable, Sendable {
    case `public`, `private`, symmetric

    /// Apple's code, the value of `kSecAttrKeyClass`.
    package var code: String {
        switch self {
        case .public: "0"
        case .private: "1"
        case .symmetric: "2"
        }
    }

    /// Takes Apple's code; nil if it is none.
    package init?(code: String) {
        guard let found = KeyClass.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}
