import Foundation
import Security
import Testing

/// The older functions, which write to buffers of the caller.
@Suite(.lockedPool)
struct RawKeyOperationTests {
    @Test(
        "Digests of the padding's size, as on iOS",
        arguments: [
            ("rsa-private.der", SecPadding.PKCS1SHA1, 20), ("rsa-private.der", .PKCS1SHA224, 28),
            ("rsa-private.der", .PKCS1SHA256, 32), ("rsa-private.der", .PKCS1SHA384, 48),
            ("rsa-private.der", .PKCS1SHA512, 64), ("rsa-private.der", .PKCS1, 33),
            ("rsa-private.der", SecPadding(), 256),
            ("ec256-private.bin", .PKCS1, 32), ("ec384-private.bin", .sigRaw, 48),
            ("ec521-private.bin", SecPadding(), 64),
        ]
    )
    func rawSign_paddedDigest_verifies(name: String, padding: SecPadding, size: Int) throws {
        let key = try Sample.key(name)
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        let digest = [UInt8](repeating: 7, count: size)
        var signature = [UInt8](repeating: 0, count: 512)
        var count = signature.count
        #expect(SecKeyRawSign(key, padding, digest, digest.count, &signature, &count) == errSecSuccess)
        if name.hasPrefix("rsa") { #expect(count == 256) }
        if padding == .sigRaw { #expect(count == 96) }
        #expect(SecKeyRawVerify(publicKey, padding, digest, size, signature, count) == errSecSuccess)
        #expect(SecKeyRawVerify(publicKey, padding, digest, size, signature, count - 1) == errSSLCrypto)
        let other = [UInt8](repeating: 8, count: size)
        #expect(SecKeyRawVerify(publicKey, padding, other, size, signature, count) == errSSLCrypto)
        #expect(SecKeyRawVerify(publicKey, padding, digest, size, signature, -1) == errSecParam)
        var small = count - 1
        #expect(SecKeyRawSign(key, padding, digest, digest.count, &signature, &small) == errSecParam)
        #expect(SecKeyRawSign(publicKey, padding, digest, digest.count, &signature, &count) == errSecParam)
    }

    @Test
    func rawSign_paddingOfEncryption_isRefused() throws {
        var output = [UInt8](repeating: 0, count: 512)
        var count = output.count
        let key = try Sample.key("rsa-private.der")
        #expect(SecKeyRawSign(key, .OAEP, [1], 1, &output, &count) == errSecParam)
        #expect(SecKeyRawSign(key, .PKCS1SHA256, [1], 1, &output, &count) == errSecParam)
        #expect(SecKeyEncrypt(try Sample.key("rsa-public.der"), .sigRaw, [1], 1, &output, &count) == errSecParam)
        #expect(SecKeyEncrypt(try Sample.key("ec256-public.bin"), .PKCS1, [1], 1, &output, &count) == errSecParam)
    }

    @Test(arguments: [SecPadding.PKCS1, .OAEP, []])
    func encrypt_isDecrypted(padding: SecPadding) throws {
        let plaintext = Array("secret".utf8)
        var ciphertext = [UInt8](repeating: 0, count: 256)
        var count = ciphertext.count
        let publicKey = try Sample.key("rsa-public.der")
        #expect(SecKeyEncrypt(publicKey, padding, plaintext, plaintext.count, &ciphertext, &count) == errSecSuccess)
        #expect(count == 256)
        let key = try Sample.key("rsa-private.der")
        var output = [UInt8](repeating: 0, count: 256)
        var size = output.count
        #expect(SecKeyDecrypt(key, padding, ciphertext, count, &output, &size) == errSecSuccess)
        #expect(Array(output.prefix(size)) == plaintext)
        var small = plaintext.count - 1
        #expect(SecKeyDecrypt(key, padding, ciphertext, count, &output, &small) == errSecParam)
        size = output.count
        #expect(SecKeyDecrypt(key, padding, ciphertext, count - 1, &output, &size) == errSecParam)
    }
}
