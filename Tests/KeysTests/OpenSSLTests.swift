import Foundation
import KeychaindGcrypt
import KeychaindKeys
import KeychaindModel
import KeychaindTestSupport
import Testing

/// What OpenSSL makes is understood here, and the other way round.
struct OpenSSLTests {
    private static let message = Array("a message".utf8)

    @Test(arguments: HashFunction.allCases, ["pkcs1", "pss"])
    func rsaSignature_bothWays_verifies(hash: HashFunction, padding: String) async throws {
        let algorithm: KeyAlgorithm =
            padding == "pss" ? .rsaSignaturePSS(hash, .message) : .rsaSignaturePKCS1(hash, .message)
        var options = ["-sigopt", "rsa_padding_mode:\(padding)"]
        if padding == "pss" { options += ["-sigopt", "rsa_pss_saltlen:digest"] }
        try await expectSignatures(Keys.rsa2048.get(), algorithm, ["-\(hash.rawValue)"] + options)
    }

    @Test(arguments: HashFunction.allCases)
    func ecdsaSignature_bothWays_verifies(hash: HashFunction) async throws {
        for key in try Keys.all(.ec) {
            try await expectSignatures(key, .ecdsaSignature(hash, .message, .x962), ["-\(hash.rawValue)"])
        }
    }

    @Test(arguments: HashFunction.allCases)
    func oaep_bothWays_isDecrypted(hash: HashFunction) async throws {
        let options = ["rsa_padding_mode:oaep", "rsa_oaep_md:\(hash.rawValue)", "rsa_mgf1_md:\(hash.rawValue)"]
        try await expectEncryption(.rsaEncryptionOAEP(hash), options)
    }

    @Test
    func pkcs1_bothWays_isDecrypted() async throws {
        try await expectEncryption(.rsaEncryptionPKCS1, ["rsa_padding_mode:pkcs1"])
    }

    @Test
    func ecdh_bothSides_areEqual() async throws {
        for key in try Keys.all(.ec) {
            let files = try KeyFiles(key)
            let peer = try KeyMaterial(making: .ec, bits: key.bits)
            let peerFiles = try KeyFiles(peer)
            let theirs = try await files.run([
                "pkeyutl", "-derive", "-inkey", files.privateKey, "-keyform", "DER", "-peerkey", peerFiles.publicKey,
                "-peerform", "DER",
            ])
            let ours = try peer.agree(with: #require(key.publicBytes), .ecdh(.standard))
            #expect(ours.array() == theirs)
        }
    }

    @Test("Keys of OpenSSL, also with small exponents")
    func init_keysOfOpenSSL_areRead() async throws {
        let folder = try TemporaryFolder()
        for exponent in [3, 65537] {
            let made = try await Command.run(
                "openssl",
                [
                    "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024", "-pkeyopt",
                    "rsa_keygen_pubexp:\(exponent)", "-out", folder.path("key.pem"),
                ]
            )
            #expect(made.succeeded, "\(made.errors)")
            let der = try await Command.run(
                "openssl",
                ["rsa", "-in", folder.path("key.pem"), "-traditional", "-outform", "DER"]
            )
            let key = try KeyMaterial(der.output, type: .rsa, keyClass: .private)
            #expect(key.bits == 1024 && key.bytes == der.output)
            try await expectSignatures(key, .rsaSignaturePKCS1(.sha256, .message), ["-sha256"])
        }
    }

    // MARK: Support

    private func expectSignatures(
        _ key: KeyMaterial,
        _ algorithm: KeyAlgorithm,
        _ options: [String]
    ) async throws {
        let files = try KeyFiles(key)
        let theirs = try await files.run(
            ["dgst"] + options + ["-keyform", "DER", "-sign", files.privateKey],
            input: Self.message
        )
        #expect(try key.publicKey?.verify(theirs, of: Self.message, algorithm) == true)
        let ours = try files.write(key.sign(Self.message, algorithm), to: "signature")
        let verified = try await files.run(
            ["dgst"] + options + ["-keyform", "DER", "-verify", files.publicKey, "-signature", ours],
            input: Self.message
        )
        #expect(String(decoding: verified, as: UTF8.self) == "Verified OK\n")
    }

    private func expectEncryption(_ algorithm: KeyAlgorithm, _ options: [String]) async throws {
        let key = try Keys.rsa2048.get()
        let files = try KeyFiles(key)
        let common = ["-keyform", "DER"] + options.flatMap { ["-pkeyopt", $0] }
        let theirs = try await files.run(
            ["pkeyutl", "-encrypt", "-pubin", "-inkey", files.publicKey] + common,
            input: Self.message
        )
        #expect(try key.decrypt(theirs, algorithm).array() == Self.message)
        let ours = try #require(key.publicKey).encrypt(Self.message, algorithm)
        let decrypted = try await files.run(["pkeyutl", "-decrypt", "-inkey", files.privateKey] + common, input: ours)
        #expect(decrypted == Self.message)
    }
}

/// A key pair in files that OpenSSL reads: PKCS #8 and SubjectPublicKeyInfo in DER.
private struct KeyFiles {
    private let folder: TemporaryFolder
    let privateKey: String
    let publicKey: String

    init(_ key: KeyMaterial) throws {
        folder = try TemporaryFolder()
        privateKey = folder.path("private.der")
        publicKey = folder.path("public.der")
        let point = try #require(key.publicBytes)
        let (algorithm, inner): ([UInt8], [UInt8])
        switch key.type {
        case .rsa:
            algorithm = [UInt8](hexadecimal: "06092a864886f70d0101010500")
            inner = key.bytes
        default:
            let curves = [256: "06082a8648ce3d030107", 384: "06052b81040022", 521: "06052b81040023"]
            algorithm = [UInt8](hexadecimal: "06072a8648ce3d0201" + (curves[key.bits] ?? ""))
            let scalar = Array(key.bytes.suffix((key.bits + 7) / 8))
            inner = KeyFiles.value(0x30, [0x02, 0x01, 0x01] + KeyFiles.value(0x04, scalar))
        }
        let identifier = KeyFiles.value(0x30, algorithm)
        let pkcs8 = KeyFiles.value(0x30, [0x02, 0x01, 0x00] + identifier + KeyFiles.value(0x04, inner))
        let info = KeyFiles.value(0x30, identifier + KeyFiles.value(0x03, [0] + point))
        try write(pkcs8, to: "private.der")
        try write(info, to: "public.der")
    }

    @discardableResult
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: folder.path(name)))
        return folder.path(name)
    }

    /// Runs openssl and returns its output.
    func run(_ arguments: [String], input: [UInt8] = []) async throws -> [UInt8] {
        let result = try await Command.run("openssl", arguments, input: input)
        #expect(result.succeeded, "\(arguments): \(result.errors)")
        return result.output
    }

    private static func value(_ tag: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        let count = bytes.count
        switch count {
        case ..<0x80: return [tag, UInt8(count)] + bytes
        case ..<0x100: return [tag, 0x81, UInt8(count)] + bytes
        default: return [tag, 0x82, UInt8(count >> 8), UInt8(count & 0xff)] + bytes
        }
    }
}
