import Foundation
import Security
import Testing

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
        for index in bytes.indices {
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
