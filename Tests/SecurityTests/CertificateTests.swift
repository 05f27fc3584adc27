import Foundation
import KeychaindTestSupport
import Security
import Testing

@Suite(.lockedPool)
struct CertificateTests {
    @Test(
        arguments: [
            ("rsa", "Anna Example"), ("ec256", "ec.example.org"), ("ec384", "Only a unit"),
            ("nameless", "nameless.example.org"), ("version1", "Old"), ("ed25519", "Edward"),
        ]
    )
    func subjectSummary_isWhatPeopleKnow(name: String, summary: String) throws {
        let certificate = try Sample.certificate(name)
        #expect(SecCertificateCopySubjectSummary(certificate) as String? == summary)
        #expect(try SecCertificateCopyData(certificate) as Data == Sample.data(name + ".der"))
        #expect("\(certificate)" == "certificate of \(summary)")
        #expect(try certificate == Sample.certificate(name))
    }

    @Test
    func contents_areWhatTheCertificateSays() throws {
        let certificate = try Sample.certificate("rsa")
        var name: CFString?
        #expect(SecCertificateCopyCommonName(certificate, &name) == errSecSuccess)
        #expect(name as String? == "Anna Example")
        var addresses: CFArray?
        #expect(SecCertificateCopyEmailAddresses(certificate, &addresses) == errSecSuccess)
        #expect(addresses as? [String] == ["anna@example.com", "anna@example.org"])
        #expect(SecCertificateCopySerialNumberData(certificate, nil) as Data? == Data([0, 0x80, 0xff, 1]))
        let nameless = try Sample.certificate("nameless")
        #expect(SecCertificateCopyCommonName(nameless, &name) == errSecSuccess)
        #expect(name == nil)
        #expect(SecCertificateCopySerialNumberData(nameless, nil) as Data? == Data([3]))
    }

    @Test(arguments: [("rsa", "rsa-public.der"), ("ec256", "ec256-public.bin"), ("ec384", "ec384-public.bin")])
    func copyKey_isThePublicKey(name: String, key: String) throws {
        #expect(try SecCertificateCopyKey(Sample.certificate(name)) == Sample.key(key))
    }

    @Test
    func copyKey_unknownAlgorithm_isNil() throws {
        #expect(try SecCertificateCopyKey(Sample.certificate("ed25519")) == nil)
    }

    @Test(
        "The dates of the validity are those in the certificate",
        arguments: [
            ("261121101400Z", "2026-11-21T10:14:00Z"), ("240229235959Z", "2024-02-29T23:59:59Z"),
            ("000301000000Z", "2000-03-01T00:00:00Z"), ("500101000000Z", "1950-01-01T00:00:00Z"),
            ("491231235959Z", "2049-12-31T23:59:59Z"), ("690101000000Z", "1969-01-01T00:00:00Z"),
            ("250229000000Z", nil), ("261121101400+", nil), ("-61121101400Z", nil),
        ]
    )
    func dates_areThoseOfTheCertificate(encoded: String, date: String?) throws {
        var bytes = try Sample.data("rsa.der")
        let place = try #require(bytes.range(of: Data("261121101400Z".utf8)))
        bytes.replaceSubrange(place, with: Data(encoded.utf8))
        let certificate = try #require(SecCertificateCreateWithData(nil, bytes as CFData))
        let expected = try date.map { try Date.ISO8601FormatStyle().parse($0) }
        #expect(SecCertificateCopyNotValidBeforeDate(certificate) as Date? == expected)
        let end = try Date.ISO8601FormatStyle().parse("2126-10-28T10:14:00Z")
        #expect(SecCertificateCopyNotValidAfterDate(certificate) as Date? == end)
    }

    @Test("A62 Issuer and subject are the attributes of the item")
    func names_areTheAttributesOfTheItem() async throws {
        let openssl = try await OpenSSL()
        try await openssl.issue("anna", key: ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], subject: "/CN=Anna")
        let (leaf, root) = (try await openssl.certificate("anna"), try await openssl.certificate("ca"))
        let issuer = try #require(SecCertificateCopyNormalizedIssuerSequence(leaf))
        #expect(issuer == SecCertificateCopyNormalizedSubjectSequence(root))
        #expect(issuer != SecCertificateCopyNormalizedSubjectSequence(leaf))
        try await Keychain.with { _ in
            let addition: [CFString: Any] = [kSecClass: kSecClassCertificate, kSecValueRef: leaf]
            #expect(SecItemAdd(addition as CFDictionary, nil) == errSecSuccess)
            let query: [CFString: Any] = [
                kSecClass: kSecClassCertificate, kSecAttrIssuer: issuer, kSecReturnRef: true,
            ]
            var found: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess)
            #expect(found as? SecCertificate == leaf)
        }
    }

    // MARK: Hostile

    @Test("A truncated certificate is refused", arguments: Sample.certificates)
    func create_truncated_isNil(name: String) throws {
        let bytes = try Sample.data(name + ".der")
        for count in 0..<bytes.count {
            #expect(SecCertificateCreateWithData(nil, bytes.prefix(count) as CFData) == nil)
        }
        #expect(SecCertificateCreateWithData(nil, bytes + [0] as CFData) == nil)
    }

    @Test("Changing any byte never crashes", arguments: Sample.certificates)
    func create_changed_doesNotCrash(name: String) throws {
        let bytes = try Sample.data(name + ".der")
        for index in bytes.indices.sample(oneIn: 4) {
            for mask in [0x01, 0x20, 0x80, 0xff] as [UInt8] {
                var changed = bytes
                changed[index] ^= mask
                guard let certificate = SecCertificateCreateWithData(nil, changed as CFData) else { continue }
                #expect(SecCertificateCopyData(certificate) as Data == changed)
                _ = SecCertificateCopySubjectSummary(certificate)
                _ = SecCertificateCopyKey(certificate)
            }
        }
    }

    @Test("A certificate of an unknown version is refused", arguments: [[3], [0xff], [1, 0], [2, 5]] as [[UInt8]])
    func create_unknownVersion_isNil(version: [UInt8]) throws {
        var bytes = [UInt8](try Sample.data("nameless.der"))
        let count = UInt8(version.count)
        #expect(bytes[8..<13] == [0xa0, 3, 2, 1, 2])
        bytes.replaceSubrange(8..<13, with: [0xa0, 2 + count, 2, count] + version)
        // The lengths of the certificate and of its contents.
        for place in [3, 7] { bytes[place] += count - 1 }
        #expect(SecCertificateCreateWithData(nil, Data(bytes) as CFData) == nil)
    }

    @Test("Huge lengths, depths and sizes are refused")
    func create_hugeOrDeep_isNil() {
        let hostile: [Data] = [
            Data(), Data([0x30]), Data([0x30, 0x80, 0, 0]), Data([0x30, 0x84, 0xff, 0xff, 0xff, 0xff]),
            Data([0x30, 0x88] + [UInt8](repeating: 0xff, count: 8)),
            Data([0x30, 0x89] + [UInt8](repeating: 0xff, count: 9)), Data([0x1f] + [UInt8](repeating: 0xff, count: 64)),
            nested(depth: 100), nested(depth: 20_000), Data(repeating: 0x30, count: 1 << 16),
            Data(repeating: 0, count: 4 << 20),
        ]
        for bytes in hostile { #expect(SecCertificateCreateWithData(nil, bytes as CFData) == nil) }
    }

    /// Nested sequences of correct lengths.
    private func nested(depth: Int) -> Data {
        var lengths: [[UInt8]] = []
        var size = 0
        for _ in 0..<depth {
            let bytes = withUnsafeBytes(of: UInt32(size).bigEndian) { Array($0.drop { $0 == 0 }) }
            lengths.append(size < 128 ? [0x30, UInt8(size)] : [0x30, 0x80 | UInt8(bytes.count)] + bytes)
            size += lengths[lengths.count - 1].count
        }
        return Data(lengths.reversed().joined())
    }
}
