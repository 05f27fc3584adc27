/// The older name of ``errSecDiskFull``.
public let errSecDskFull: OSStatus = errSecDiskFull

/// Apple's older spelling of ``errSecInvalidCRLAuthority``.
public let errSecInvaldCRLAuthority: OSStatus = errSecInvalidCRLAuthority

/// Apple's older spelling of ``errSecInvalidTupleCredentials``.
public let errSecInvalidTupleCredendtials: OSStatus = errSecInvalidTupleCredentials
