import Foundation
import KeychaindTestSupport
import Security
import Testing

/// PKCS #12 files that openssl has made, and others.
@Suite(.lockedPool)
struct PKCS12Tests {
    /// Options of `openssl pkcs12`.
    private static let encryptions: [[String]] = [
        [], ["-legacy"], ["-legacy", "-certpbe", "PBE-SHA1-RC2-128", "-keypbe", "PBE-SHA1-RC2-40"],
        ["-keypbe", "AES-128-CBC", "-certpbe", "AES-192-CBC", "-macalg", "sha512"],
        ["-keypbe", "DES-EDE3-CBC", "-certpbe", "NONE", "-macalg", "sha384"],
        ["-keypbe", "NONE", "-certpbe", "AES-256-CBC", "-macalg", "sha224", "-iter", "1"],
        ["-nomac"], ["-nomaciter", "-noiter"],
    ]

    private static let passwords = ["secret", "", "Grüße 𝄞", String(repeating: "long ", count: 60)]

    @Test("Files of each encryption and password are read", arguments: passwords)
    func import_eachEncryption_isRead(password: String) async throws {
        let openssl = try await OpenSSL()
        try await openssl.issue("anna", key: ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], subject: "/CN=Anna")
        let certificate = try await openssl.certificate("anna")
        for options in Self.encryptions {
            let file = try await openssl.archive("anna", password: password, options + ["-name", "Anna’s key"])
            let (status, items) = Self.read(file, password)
            try #require(status == errSecSuccess, "\(options)")
            let item = try #require(items.first)
            #expect(items.count == 1)
            #expect(item[kSecImportItemLabel as String] as? String == "Anna’s key")
            #expect((item[kSecImportItemKeyID as String] as? Data)?.count == 20)
            let chain = try #require(item[kSecImportItemCertChain as String] as? [SecCertificate])
            #expect(chain == [certificate, try await openssl.certificate("ca")])
            #expect(Self.read(file, password + "!").status == errSecAuthFailed, "\(options)")
        }
    }

    /// Some of the wrong passwords leave a valid padding.
    @Test("Without an authentication code, every wrong password is told as such")
    func import_wrongPasswordsWithoutCode_failToAuthenticate() async throws {
        let openssl = try await OpenSSL()
        try await openssl.issue("anna", key: ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], subject: "/CN=Anna")
        let file = try await openssl.archive("anna", password: "secret", ["-nomac", "-iter", "1"])
        let statuses = (0..<1000).map { Self.read(file, "\($0)").status }
        #expect(statuses.allSatisfy { $0 == errSecAuthFailed })
        #expect(Self.read(file, "secret").status == errSecSuccess)
    }

    @Test(
        "Keys of each type are the ones of their certificates, and can be stored",
        arguments: [
            ["rsa:2048"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-521"],
        ]
    )
    func import_eachKey_isStored(key: [String]) async throws {
        let openssl = try await OpenSSL()
        try await openssl.issue("anna", key: key, subject: "/CN=Anna \(UUID().uuidString)")
        let file = try await openssl.archive("anna", password: "secret")
        let identity = try #require(Self.identity(in: file, "secret"))
        var certificate: SecCertificate?
        #expect(SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess)
        var privateKey: SecKey?
        #expect(SecIdentityCopyPrivateKey(identity, &privateKey) == errSecSuccess)
        let own = try #require(certificate)
        let publicKey = SecCertificateCopyKey(own)
        #expect(SecKeyCopyPublicKey(try #require(privateKey)) == publicKey)
        try await Keychain.with { _ in
            var found: SecIdentity?
            #expect(SecIdentityCreateWithCertificate(nil, own, &found) == errSecItemNotFound)
            #expect(SecItemAdd([kSecValueRef: identity] as [CFString: Any] as CFDictionary, nil) == errSecSuccess)
            #expect(SecIdentityCreateWithCertificate(nil, own, &found) == errSecSuccess)
            #expect(found == identity)
            #expect(SecItemDelete([kSecValueRef: identity] as [CFString: Any] as CFDictionary) == errSecSuccess)
        }
    }

    @Test("Core Foundation's functions read the result by pointers")
    func import_result_isReadByPointers() async throws {
        let openssl = try await OpenSSL()
        try await openssl.issue("anna", key: ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], subject: "/CN=Anna")
        let file = try await openssl.archive("anna", password: "secret")
        var items: CFArray?
        let options = [kSecImportExportPassphrase: "secret"] as [CFString: Any]
        #expect(SecPKCS12Import(file as CFData, options as CFDictionary, &items) == errSecSuccess)
        #expect(CFArrayGetCount(items) == 1)
        let item = unsafeBitCast(try #require(CFArrayGetValueAtIndex(items, 0)), to: CFDictionary.self)
        let key = Unmanaged.passUnretained(kSecImportItemIdentity).toOpaque()
        let pointer = try #require(CFDictionaryGetValue(item, key))
        let identity = Unmanaged<SecIdentity>.fromOpaque(pointer).takeUnretainedValue()
        #expect(CFGetTypeID(identity) == SecIdentityGetTypeID())
        var certificate: SecCertificate?
        #expect(SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess)
        #expect(SecCertificateCopySubjectSummary(try #require(certificate)) == "Anna")
    }

    @Test("Certificates without a key are read without an identity")
    func import_certificatesOnly_haveNoIdentity() async throws {
        let openssl = try await OpenSSL()
        try await openssl.run(
            "pkcs12",
            "-export",
            "-nokeys",
            "-in",
            "ca.pem",
            "-passout",
            "pass:secret",
            "-out",
            "ca.p12"
        )
        let (status, items) = Self.read(try openssl.data("ca.p12"), "secret")
        #expect(status == errSecSuccess && items.count == 1)
        #expect(items.first?[kSecImportItemIdentity as String] == nil)
        #expect(items.first?[kSecImportItemLabel as String] as? String == "Root")
    }

    @Test("A cut or changed file is refused, or is the same identity")
    func import_damaged_isRefused() async throws {
        let openssl = try await OpenSSL()
        try await openssl.issue("anna", key: ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], subject: "/CN=Anna")
        for options in [[], ["-nomac"]] {
            let file = try await openssl.archive("anna", password: "secret", options + ["-iter", "1"])
            let identity = try #require(Self.identity(in: file, "secret"))
            for count in stride(from: 0, to: file.count, by: 7) {
                #expect(Self.read(file.prefix(count), "secret").status == errSecDecode)
            }
            for index in file.indices {
                var changed = file
                changed[index] ^= 1 << UInt8(index % 8)
                let (status, items) = Self.read(changed, "secret")
                guard status == errSecSuccess else { continue }
                let found = items.first?[kSecImportItemIdentity as String] as? SecIdentity
                // Without an authentication code, names and certificates can be changed, but not the key.
                #expect(!options.isEmpty || found == nil || found == identity, "byte \(index)")
            }
        }
    }

    @Test("Anything else than a file is refused")
    func import_garbage_isRefused() {
        for bytes in [[], [0], [0x30, 0], [0x30, 0x80], Array(repeating: 0x30, count: 9999)] as [[UInt8]] {
            #expect(Self.read(Data(bytes), "secret").status == errSecDecode)
            #expect(Self.read(Data(bytes), nil).status == errSecDecode)
        }
    }

    @Test("Too many iterations and a salt of the wrong size are refused at once")
    func import_expensive_isRefused() {
        for (salt, iterations) in [
            ([1], [0x7f, 0xff, 0xff, 0xff]), ([1], [0]), ([], [1]), ([UInt8](repeating: 1, count: 2000), [1]),
        ]
            as [([UInt8], [UInt8])]
        {
            let file = Self.file(salt: salt, iterations: iterations)
            #expect(Self.read(Data(file), "secret").status == errSecDecode)
        }
        // The same file with sound numbers is one with another password.
        #expect(Self.read(Data(Self.file(salt: [1], iterations: [1])), "secret").status == errSecAuthFailed)
    }

    @Test("A password that is not text is refused")
    func import_passwordOfAnotherType_isRefused() {
        var items: CFArray?
        let options = [kSecImportExportPassphrase: 7] as [CFString: Any]
        #expect(SecPKCS12Import(Data() as CFData, options as CFDictionary, &items) == errSecParam)
    }

    /// An empty file with an authentication code of SHA-1.
    private static func file(salt: [UInt8], iterations: [UInt8]) -> [UInt8] {
        let sha1: [UInt8] = [0x2b, 0x0e, 0x03, 0x02, 0x1a]
        let data: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]
        let safe = der(0x30, der(0x06, data) + der(0xa0, der(0x04, der(0x30, []))))
        let digest = der(0x30, der(0x30, der(0x06, sha1)) + der(0x04, Array(repeating: 0, count: 20)))
        let code = der(0x30, digest + der(0x04, salt) + der(0x02, iterations))
        return der(0x30, der(0x02, [3]) + safe + code)
    }

    private static func der(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        let count = contents.count
        let length = count < 0x80 ? [UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xff)]
        return [tag] + length + contents
    }

    private static func read(_ file: Data, _ password: String?) -> (status: OSStatus, items: [[String: Any]]) {
        var items: CFArray?
        var options: [CFString: Any] = [:]
        options[kSecImportExportPassphrase] = password
        let status = SecPKCS12Import(file as CFData, options as CFDictionary, &items)
        return (status, items as? [[String: Any]] ?? [])
    }

    private static func identity(in file: Data, _ password: String) -> SecIdentity? {
        read(file, password).items.first?[kSecImportItemIdentity as String] as? SecIdentity
    }
}
