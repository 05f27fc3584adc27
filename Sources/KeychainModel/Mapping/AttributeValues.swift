/// The protocols of internet passwords: by the names that items have, which are those of URL schemes where there are any.
package enum InternetProtocol: String, CaseIterable, Hashable, Sendable {
    case ftp, http, irc, nntp, pop3, smtp, socks, imap, ldap, afp, telnet, ssh, ftps, https, smb, rtsp, daap, eppc, ipp
    case nntps, ldaps, telnets, imaps, ircs, pop3s
    case appletalk = "at"
    case ftpAccount = "ftp-account"
    case httpProxy = "http-proxy"
    case httpsProxy = "https-proxy"
    case ftpProxy = "ftp-proxy"
    case rtspProxy = "rtsp-proxy"

    /// Apple's code, the value of `kSecAttrProtocol`.
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

    /// Takes Apple's code; nil if it is none.
    package init?(code: String) {
        guard let found = InternetProtocol.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }
}
