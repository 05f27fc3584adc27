import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Security
import Testing

struct CertificateItemTests {
    @Test(arguments: TestedProvider.allCases)
    func add_isFoundInEveryForm_untilDeleted(provider: TestedProvider) async throws {
        try await Keychain.withOwn(provider) { keychain in
            for (number, name) in Sample.certificates.enumerated() {
                let certificate = try Sample.certificate(name)
                let bytes = try Sample.data(name + ".der")
                // By reference or by data.
                let item: [CFString: Any] =
                    number.isMultiple(of: 2)
                    ? [kSecValueRef: certificate] : [kSecClass: kSecClassCertificate, kSecValueData: bytes]
                #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
                let again: [CFString: Any] = [kSecClass: kSecClassCertificate, kSecValueRef: certificate]
                #expect(SecItemAdd(again as CFDictionary, nil) == errSecDuplicateItem)
                let query: [CFString: Any] = [
                    kSecClass: kSecClassCertificate,
                    kSecAttrSerialNumber: try #require(SecCertificateCopySerialNumberData(certificate, nil)),
                ]
                #expect(keychain.find(query, [kSecReturnRef: true], as: SecCertificate.self) == certificate)
                #expect(keychain.find(query, [kSecReturnData: true], as: Data.self) == bytes)
                let attributes = try #require(
                    keychain.find(query, [kSecReturnAttributes: true], as: [String: Any].self)
                )
                #expect(
                    attributes[kSecAttrLabel as String] as? String == SecCertificateCopySubjectSummary(certificate)
                        as String?
                )
                #expect(attributes[kSecAttrCertificateType as String] as? Int == (name == "version1" ? 1 : 3))
                #expect(attributes[kSecAttrCertificateEncoding as String] as? Int == 3)
                if name != "version1" {
                    // Self-signed; openssl uses the hash of a key as its identifier.
                    #expect(
                        attributes[kSecAttrIssuer as String] as? Data == attributes[kSecAttrSubject as String] as? Data
                    )
                    let hash = attributes[kSecAttrPublicKeyHash as String] as? Data
                    #expect(hash?.count == 20)
                    #expect(hash == attributes[kSecAttrSubjectKeyID as String] as? Data)
                }
            }
            let all: [CFString: Any] = [kSecClass: kSecClassCertificate, kSecMatchLimit: kSecMatchLimitAll]
            #expect(keychain.find(all, [kSecReturnRef: true], as: [SecCertificate].self)?.count == 6)
            let reference = try #require(
                keychain.find(
                    [kSecValueRef: try Sample.certificate("ec256")],
                    [kSecReturnPersistentRef: true],
                    as: Data.self
                )
            )
            try await keychain.provider.restart()
            let byReference = [kSecValuePersistentRef: reference] as [CFString: Any]
            if provider == .keychaind {
                #expect(
                    try keychain.find(byReference, [kSecReturnRef: true], as: SecCertificate.self)
                        == Sample.certificate("ec256")
                )
            }
            #expect(
                try SecItemDelete([kSecValueRef: Sample.certificate("rsa")] as [CFString: Any] as CFDictionary)
                    == errSecSuccess
            )
            #expect(keychain.find(all, [kSecReturnRef: true], as: [SecCertificate].self)?.count == 5)
        }
    }

    @Test
    func add_whatIsNone_isRefused() async throws {
        try await Keychain.with { keychain in
            let query: [CFString: Any] = [kSecClass: kSecClassCertificate]
            #expect(SecItemAdd(query as CFDictionary, nil) == errSecDecode)
            #expect(SecItemAdd(query.with(kSecValueData, data("nonsense")), nil) == errSecDecode)
            let key = try Sample.key("ec256-public.bin")
            #expect(SecItemAdd(query.with(kSecValueRef, key), nil) == errSecParam)
            #expect(SecItemAdd(query.with(kSecValueRef, "nonsense"), nil) == errSecInvalidItemRef)
            let certificate = query.merging([kSecValueRef: try Sample.certificate("rsa")]) { $1 }
            #expect(SecItemAdd(certificate.with(kSecAttrSerialNumber, data("1")), nil) == errSecParam)
            #expect(SecItemAdd(certificate.with(kSecAttrAccount, "a"), nil) == errSecNoSuchAttr)
            #expect(SecItemAdd(certificate.with(kSecAttrIssuer, "text"), nil) == errSecParam)
            #expect(SecItemCopyMatching(query.with(kSecMatchTrustedOnly, true), nil) == errSecUnimplemented)
        }
    }

    @Test
    func update_label_isChanged_andTheRestIsNot() async throws {
        try await Keychain.withOwn { keychain in
            let certificate = try Sample.certificate("rsa")
            #expect(SecItemAdd([kSecValueRef: certificate] as [CFString: Any] as CFDictionary, nil) == errSecSuccess)
            let query: [CFString: Any] = [kSecClass: kSecClassCertificate, kSecAttrLabel: "Anna Example"]
            let change = [kSecAttrLabel: "mine"] as [CFString: Any] as CFDictionary
            #expect(SecItemUpdate(query as CFDictionary, change) == errSecSuccess)
            #expect(
                keychain.find(
                    query.merging([kSecAttrLabel: "mine"]) { $1 },
                    [kSecReturnRef: true],
                    as: SecCertificate.self
                ) == certificate
            )
            let serial = [kSecAttrSerialNumber: data("1")] as [CFString: Any] as CFDictionary
            #expect(
                SecItemUpdate([kSecClass: kSecClassCertificate] as [CFString: Any] as CFDictionary, serial)
                    == errSecParam
            )
        }
    }
}
