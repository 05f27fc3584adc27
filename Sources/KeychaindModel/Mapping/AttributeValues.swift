/// A protocol of internet passwords, named by its URL scheme if it has one.
package enum InternetProtocol: String, CaseIterable, Hashable, Sendable {
    case ftp, http, irc, nntp, pop3, smtp, socks, imap, ldap, afp, telnet, ssh, ftps, https, smb, rtsp, daap, eppc, ipp
    case nntps, ldaps, telnets, imaps, ircs, pop3s
    case appletalk = "at"
    case ftpAccount = "ftp-account"
    case httpProxy = "http-proxy"
    case httpsProxy = "https-proxy"
    case ftpProxy = "ftp-proxy"
    case rtspProxy = "rtsp-proxy"

    /// The value of `kSecAttrProtocol`.
    package var code: String {
        switch self {
        case .ftp: "ftp "
        case .ftpAccount: "ftpa"
        case .http: "http"
        case .irc: "irc "
        case .nntp: "nntp"
        case .pop3: "pop3"
        case .smtp: "smtp"
        case .socks: "sox "
        case .imap: "imap"
        case .ldap: "ldap"
        case .appletalk: "atlk"
        case .afp: "afp "
        case .telnet: "teln"
        case .ssh: "ssh "
        case .ftps: "ftps"
        case .https: "htps"
        case .httpProxy: "htpx"
        case .httpsProxy: "htsx"
        case .ftpProxy: "ftpx"
        case .smb: "smb "
        case .rtsp: "rtsp"
        case .rtspProxy: "rtsx"
        case .daap: "daap"
        case .eppc: "eppc"
        case .ipp: "ipp "
        case .nntps: "ntps"
        case .ldaps: "ldps"
        case .telnets: "tels"
        case .imaps: "imps"
        case .ircs: "ircs"
        case .pop3s: "pops"
        }
    }

    package init?(code: String) {
        guard let found = InternetProtocol.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}

/// An authentication scheme of a server, by its name in items.
package enum AuthenticationScheme: String, CaseIterable, Hashable, Sendable {
    case ntlm, msn, dpa, rpa, basic, digest, form, `default`

    /// The value of `kSecAttrAuthenticationType`.
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

    package init?(code: String) {
        guard let found = AuthenticationScheme.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}

/// The class of a key, by its name in items.
package enum KeyClass: String, CaseIterable, Hashable, Sendable {
    case `public`, `private`, symmetric

    /// The value of `kSecAttrKeyClass`.
    package var code: String {
        switch self {
        case .public: "0"
        case .private: "1"
        case .symmetric: "2"
        }
    }

    package init?(code: String) {
        guard let found = KeyClass.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}

extension KeyClass {
    /// Whether keys of the class can do what an attribute says, unless their item says otherwise; nil for other
    /// attributes.
    func isAble(_ attribute: KeychainAttribute) -> Bool? {
        switch attribute {
        case .canEncrypt, .canWrap: self != .private
        case .canDecrypt, .canUnwrap: self != .public
        case .canSign: self == .private
        case .canVerify: self == .public
        case .canDerive: true
        default: nil
        }
    }
}

/// A device that holds private keys, by its name in items.
package enum KeyTokenName: String, CaseIterable, Hashable, Sendable {
    case tpm

    /// The value of `kSecAttrTokenID`.
    package var code: String {
        switch self {
        // The closest to Apple's Secure Enclave.
        case .tpm: "com.apple.setoken"
        }
    }

    package init?(code: String) {
        guard let found = KeyTokenName.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}

/// The algorithm of a key, by its name in items.
package enum KeyType: String, CaseIterable, Hashable, Sendable {
    case rsa, dsa, ec, aes, des, rc2, rc4, cast
    case tripleDES = "3des"

    /// The value of `kSecAttrKeyType`.
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

    package init?(code: String) {
        guard let found = KeyType.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}
