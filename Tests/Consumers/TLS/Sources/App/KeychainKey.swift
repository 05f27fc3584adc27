import Crypto
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Security
import SwiftASN1
import X509

/// A P-256 key of the keychain, which signs there, for certificates and for connections.
struct KeychainKey: Hashable, Sendable {
    private let key: SecKey

    /// A private key that the keychain has returned.
    init(_ key: SecKey) {
        self.key = key
    }

    /// Generates a key in the keychain.
    init(tag: String) throws {
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            kSecAttrKeySizeInBits as String: 256,
            kSecPrivateKeyAttrs as String: [
                kSecAttrIsPermanent as String: true,
                kSecAttrApplicationTag as String: Data(tag.utf8),
            ] as [String: Any],
        ]
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, &error) else {
            throw error!.takeRetainedValue()
        }
        self.key = key
    }

    /// The signature in the form of ANSI X9.62.
    func sign(_ bytes: Data) throws -> Data {
        var error: Unmanaged<CFError>?
        guard let signature = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, bytes as CFData, &error)
        else { throw error!.takeRetainedValue() }
        return signature as Data
    }
}

extension KeychainKey: CustomPrivateKey {
    static var defaultPEMDiscriminator: String { "PRIVATE KEY" }

    var publicKey: Certificate.PublicKey {
        guard let key = SecKeyCopyPublicKey(key), let bytes = SecKeyCopyExternalRepresentation(key, nil),
            let publicKey = try? P256.Signing.PublicKey(x963Representation: bytes as Data)
        else { fatalError("a private key of the keychain has a public key") }
        return Certificate.PublicKey(publicKey)
    }

    var defaultSignatureAlgorithm: Certificate.SignatureAlgorithm { .ecdsaWithSHA256 }

    var supportedSignatureAlgorithms: [Certificate.SignatureAlgorithm] { [.ecdsaWithSHA256] }

    func signSynchronously(
        bytes: some DataProtocol,
        signatureAlgorithm: Certificate.SignatureAlgorithm
    ) throws -> Certificate.Signature {
        let signature = try sign(Data(bytes))
        return try Certificate.Signature(
            signatureAlgorithm: signatureAlgorithm,
            signatureBytes: ASN1BitString(bytes: ArraySlice(signature))
        )
    }

    /// The key stays in the keychain.
    func serialize(into coder: inout DER.Serializer, withIdentifier identifier: ASN1Identifier) throws {
        throw CocoaError(.featureUnsupported)
    }

    func serialize(into coder: inout DER.Serializer) throws {
        throw CocoaError(.featureUnsupported)
    }
}

extension KeychainKey: NIOSSLCustomPrivateKey {
    var signatureAlgorithms: [SignatureAlgorithm] { [.ecdsaSecp256R1Sha256] }

    func sign(channel: any Channel, algorithm: SignatureAlgorithm, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        // The keychain blocks its caller, which must not be an event loop.
        NIOThreadPool.singleton.runIfActive(eventLoop: channel.eventLoop) {
            ByteBuffer(bytes: try sign(Data(data.readableBytesView)))
        }
    }

    func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeFailedFuture(CocoaError(.featureUnsupported))
    }
}
