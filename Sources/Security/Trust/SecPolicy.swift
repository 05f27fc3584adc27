#if Keys
public import Foundation

// Declared for the same reason as `SecTrust`.

/// Not available: a policy of trust.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public final class SecPolicy: Sendable {
    fileprivate init() {}
}

/// Not available: the type of policies.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecPolicyGetTypeID() -> CFTypeID { 0 }

/// Not available: creates a policy for a chain, whatever it is used for.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy() }

/// Not available: creates a policy for TLS with a server or a client.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy { SecPolicy() }

/// Not available: creates a policy for revocation.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? { nil }

/// Not available: creates a policy by its identifier.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecPolicyCreateWithProperties(_ policyIdentifier: CFTypeRef, _ properties: CFDictionary?) -> SecPolicy? {
    nil
}

/// Not available: the properties of a policy.
@available(*, unavailable, message: "Trust is not evaluated here: use swift-certificates, or the TLS library")
public func SecPolicyCopyProperties(_ policyRef: SecPolicy) -> CFDictionary? { nil }
#endif
