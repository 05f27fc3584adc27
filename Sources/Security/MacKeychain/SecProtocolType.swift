/// The protocol of an internet password, a value of ``kSecAttrProtocol`` as a number.
public enum SecProtocolType: FourCharCode, CaseIterable, Sendable {
    /// FTP.
    case FTP = 0x6674_7020

    /// An FTP account.
    case ftpAccount = 0x6674_7061

    /// HTTP.
    case HTTP = 0x6874_7470

    /// IRC.
    case IRC = 0x6972_6320

    /// NNTP.
    case NNTP = 0x6E6E_7470

    /// POP3.
    case POP3 = 0x706F_7033

    /// SMTP.
    case SMTP = 0x736D_7470

    /// SOCKS.
    case SOCKS = 0x736F_7820

    /// IMAP.
    case IMAP = 0x696D_6170

    /// LDAP.
    case LDAP = 0x6C64_6170

    /// AppleTalk.
    case appleTalk = 0x6174_6C6B

    /// AFP.
    case AFP = 0x6166_7020

    /// Telnet.
    case telnet = 0x7465_6C6E

    /// SSH.
    case SSH = 0x7373_6820

    /// FTPS.
    case FTPS = 0x6674_7073

    /// HTTPS.
    case HTTPS = 0x6874_7073

    /// An HTTP proxy.
    case httpProxy = 0x6874_7078

    /// An HTTPS proxy.
    case httpsProxy = 0x6874_7378

    /// An FTP proxy.
    case ftpProxy = 0x6674_7078

    /// CIFS.
    case CIFS = 0x6369_6673

    /// SMB.
    case SMB = 0x736D_6220

    /// RTSP.
    case RTSP = 0x7274_7370

    /// An RTSP proxy.
    case rtspProxy = 0x7274_7378

    /// DAAP.
    case DAAP = 0x6461_6170

    /// EPPC.
    case EPPC = 0x6570_7063

    /// IPP.
    case IPP = 0x6970_7020

    /// NNTPS.
    case NNTPS = 0x6E74_7073

    /// LDAPS.
    case LDAPS = 0x6C64_7073

    /// Telnet over TLS.
    case telnetS = 0x7465_6C73

    /// IMAPS.
    case IMAPS = 0x696D_7073

    /// IRCS.
    case IRCS = 0x6972_6373

    /// POP3S.
    case POP3S = 0x706F_7073

    /// A CVS server.
    case cvSpserver = 0x6376_7370

    /// Subversion.
    case SVN = 0x7376_6E20

    /// Any protocol, in searches.
    case any = 0
}

/// The authentication type of an internet password, a value of ``kSecAttrAuthenticationType`` as a number.
public enum SecAuthenticationType: FourCharCode, CaseIterable, Sendable {
    /// NTLM.
    case NTLM = 0x6E74_6C6D

    /// MSN.
    case MSN = 0x6D73_6E61

    /// DPA.
    case DPA = 0x6470_6161

    /// RPA.
    case RPA = 0x7270_6161

    /// HTTP basic authentication.
    case httpBasic = 0x6874_7470

    /// HTTP digest authentication.
    case httpDigest = 0x6874_7464

    /// An HTML form.
    case htmlForm = 0x666F_726D

    /// The default authentication.
    case `default` = 0x6466_6C74

    /// Any type, in searches.
    case any = 0
}
