/// How a server authenticates: by the names that items have.
package enum AuthenticationScheme: String, CaseIterable, Hashable, Sendable {
    case ntlm, msn, dpa, rpa, basic, digest, form, `default`

    /// Apple's code, the value of `kSecAttrAuthenticationType`.
    package var code: String {
        switch self {
        case .ntlm: "ntlm"
        case .msn: "msna"
        case .dpa: "dpaa"
        case .rpa: "rpaa"
        case .basic: "http"
        case .digest: "httd"
        case .form: "form"
        case .default: "dflt"
        }
    }

    /// Takes Apple's code; nil if it is none.
    package init?(code: String) {
        guard let found = AuthenticationScheme.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}
