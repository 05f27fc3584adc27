package import KeychaindGcrypt

/// A device that makes private keys of P-256 and uses them, such as a TPM.
///
/// The device keeps no key: it wraps each one so that only the same device can unwrap it. All methods block, and throw
/// ``KeyError/Code/tokenUnavailable`` without the device, ``KeyError/Code/foreignKey`` for a key of another one, and
/// ``KeyError/Code/malformedKey`` for bytes that are not a wrapped key.
package protocol KeyToken: Sendable {
    func makeKey() throws(KeyError) -> NewTokenKey

    /// Signs by ECDSA.
    ///
    /// - Parameter digest: 32 bytes.
    /// - Returns: r and s, each of 32 bytes.
    func sign(_ digest: [UInt8], with wrapped: borrowing SecureBytes) throws(KeyError) -> [UInt8]

    /// The x coordinate of a point multiplied by a key.
    ///
    /// - Parameter point: a point on the curve.
    func multiply(_ point: [UInt8], by wrapped: borrowing SecureBytes) throws(KeyError) -> SecureBytes
}

/// A key that a device has made.
package struct NewTokenKey: ~Copyable, Sendable {
    package let wrapped: SecureBytes

    /// 4, x and y.
    package let publicKey: [UInt8]

    package init(wrapped: consuming SecureBytes, publicKey: [UInt8]) {
        self.wrapped = wrapped
        self.publicKey = publicKey
    }
}

/// Without a device.
package struct NoKeyToken: KeyToken {
    package init() {}

    package func makeKey() throws(KeyError) -> NewTokenKey { throw NoKeyToken.error }

    package func sign(_ digest: [UInt8], with wrapped: borrowing SecureBytes) throws(KeyError) -> [UInt8] {
        throw NoKeyToken.error
    }

    package func multiply(_ point: [UInt8], by wrapped: borrowing SecureBytes) throws(KeyError) -> SecureBytes {
        throw NoKeyToken.error
    }

    private static var error: KeyError { KeyError(.tokenUnavailable, "there is no TPM") }
}
