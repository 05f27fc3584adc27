#if canImport(Security)
import Security

/// Whether the module is there.
public let seesSecurity = true
#else
/// Whether the module is there.
public let seesSecurity = false
#endif

#if canImport(LocalAuthentication)
import LocalAuthentication

/// Whether the module is there.
public let seesLocalAuthentication = true
#else
/// Whether the module is there.
public let seesLocalAuthentication = false
#endif
