public import Foundation

// `nonisolated(unsafe)`: immutable strings, whose class is not declared Sendable.

/// FTP.
public nonisolated(unsafe) let kSecAttrProtocolFTP: CFString = "ftp "

/// An FTP account.
public nonisolated(unsafe) let kSecAttrProtocolFTPAccount: CFString = "ftpa"

/// HTTP.
public nonisolated(unsafe) let kSecAttrProtocolHTTP: CFString = "http"

/// IRC.
public nonisolated(unsafe) let kSecAttrProtocolIRC: CFString = "irc "

/// NNTP.
public nonisolated(unsafe) let kSecAttrProtocolNNTP: CFString = "nntp"

/// POP3.
public nonisolated(unsafe) let kSecAttrProtocolPOP3: CFString = "pop3"

/// SMTP.
public nonisolated(unsafe) let kSecAttrProtocolSMTP: CFString = "smtp"

/// SOCKS.
public nonisolated(unsafe) let kSecAttrProtocolSOCKS: CFString = "sox "

/// IMAP.
public nonisolated(unsafe) let kSecAttrProtocolIMAP: CFString = "imap"

/// LDAP.
public nonisolated(unsafe) let kSecAttrProtocolLDAP: CFString = "ldap"

/// AppleTalk.
public nonisolated(unsafe) let kSecAttrProtocolAppleTalk: CFString = "atlk"

/// AFP.
public nonisolated(unsafe) let kSecAttrProtocolAFP: CFString = "afp "

/// Telnet.
public nonisolated(unsafe) let kSecAttrProtocolTelnet: CFString = "teln"

/// SSH.
public nonisolated(unsafe) let kSecAttrProtocolSSH: CFString = "ssh "

/// FTPS.
public nonisolated(unsafe) let kSecAttrProtocolFTPS: CFString = "ftps"

/// HTTPS.
public nonisolated(unsafe) let kSecAttrProtocolHTTPS: CFString = "htps"

/// An HTTP proxy.
public nonisolated(unsafe) let kSecAttrProtocolHTTPProxy: CFString = "htpx"

/// An HTTPS proxy.
public nonisolated(unsafe) let kSecAttrProtocolHTTPSProxy: CFString = "htsx"

/// An FTP proxy.
public nonisolated(unsafe) let kSecAttrProtocolFTPProxy: CFString = "ftpx"

/// SMB.
public nonisolated(unsafe) let kSecAttrProtocolSMB: CFString = "smb "

/// RTSP.
public nonisolated(unsafe) let kSecAttrProtocolRTSP: CFString = "rtsp"

/// An RTSP proxy.
public nonisolated(unsafe) let kSecAttrProtocolRTSPProxy: CFString = "rtsx"

/// DAAP.
public nonisolated(unsafe) let kSecAttrProtocolDAAP: CFString = "daap"

/// EPPC.
public nonisolated(unsafe) let kSecAttrProtocolEPPC: CFString = "eppc"

/// IPP.
public nonisolated(unsafe) let kSecAttrProtocolIPP: CFString = "ipp "

/// NNTPS.
public nonisolated(unsafe) let kSecAttrProtocolNNTPS: CFString = "ntps"

/// LDAPS.
public nonisolated(unsafe) let kSecAttrProtocolLDAPS: CFString = "ldps"

/// Telnet over TLS.
public nonisolated(unsafe) let kSecAttrProtocolTelnetS: CFString = "tels"

/// IMAPS.
public nonisolated(unsafe) let kSecAttrProtocolIMAPS: CFString = "imps"

/// IRCS.
public nonisolated(unsafe) let kSecAttrProtocolIRCS: CFString = "ircs"

/// POP3S.
public nonisolated(unsafe) let kSecAttrProtocolPOP3S: CFString = "pops"

/// NTLM.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm"

/// MSN.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeMSN: CFString = "msna"

/// DPA.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeDPA: CFString = "dpaa"

/// RPA.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeRPA: CFString = "rpaa"

/// HTTP basic authentication.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"

/// HTTP digest authentication.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"

/// An HTML form.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"

/// The default authentication.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeDefault: CFString = "dflt"
