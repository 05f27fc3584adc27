#if Keys
public import Dispatch
public import Foundation

// Declared so that the compiler names the reason (decision 0103): a wrong verdict on a certificate is worse than none.

/// Not available: the trust in certificates.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public final class SecTrust: Sendable {}

/// Not available: the result of an evaluation of trust.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public enum SecTrustResultType: UInt32, Sendable {
    /// Not valid.
    case invalid = 0

    /// Trusted by the user.
    case proceed = 1

    /// Distrusted by the user.
    case deny = 3

    /// Trusted.
    case unspecified = 4

    /// Not trusted, which the user may change.
    case recoverableTrustFailure = 5

    /// Not trusted.
    case fatalTrustFailure = 6

    /// Another failure.
    case otherError = 7
}

/// Not available: the type of trust.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustGetTypeID() -> CFTypeID { 0 }

/// Not available: creates a trust in certificates.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustCreateWithCertificates(
    _ certificates: CFTypeRef,
    _ policies: CFTypeRef?,
    _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus { errSecUnimplemented }

/// Not available: evaluates trust, with the kind of the result.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustEvaluate(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    errSecUnimplemented
}

/// Not available: evaluates trust, with the reason of a failure.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool { false }

/// Not available: evaluates trust, and gives the result on a queue.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust,
    _ queue: DispatchQueue,
    _ result: @escaping (SecTrust, Bool, CFError?) -> Void
) -> OSStatus { errSecUnimplemented }

/// Not available: the kind of the last result.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustGetTrustResult(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    errSecUnimplemented
}

/// Not available: the details of the last result.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustCopyResult(_ trust: SecTrust) -> CFDictionary? { nil }

/// Not available: sets policies.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus { errSecUnimplemented }

/// Not available: copies policies.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustCopyPolicies(_ trust: SecTrust, _ policies: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    errSecUnimplemented
}

/// Not available: sets roots.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
    errSecUnimplemented
}

/// Not available: excludes the roots of the system.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    errSecUnimplemented
}

/// Not available: copies the roots of the system.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustCopyAnchorCertificates(_ anchors: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    errSecUnimplemented
}

/// Not available: sets the date of the evaluation.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus { errSecUnimplemented }

/// Not available: allows to fetch certificates.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus { errSecUnimplemented }

/// Not available: sets a proof that a certificate is not revoked.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustSetOCSPResponse(_ trust: SecTrust, _ responseData: CFTypeRef?) -> OSStatus { errSecUnimplemented }

/// Not available: copies the failures of the last evaluation, so that the next ones can overlook them.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustCopyExceptions(_ trust: SecTrust) -> CFData? { nil }

/// Not available: sets the failures to overlook.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustSetExceptions(_ trust: SecTrust, _ exceptions: CFData?) -> Bool { false }

/// Not available: the key of the first certificate; ``SecCertificateCopyKey(_:)`` returns that of any.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? { nil }

/// Not available: the key of the first certificate; ``SecCertificateCopyKey(_:)`` returns that of any.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustCopyPublicKey(_ trust: SecTrust) -> SecKey? { nil }

/// Not available: the number of certificates.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex { 0 }

/// Not available: a certificate of the chain.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ ix: CFIndex) -> SecCertificate? { nil }

/// Not available: the chain to a root.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { nil }
#endif
