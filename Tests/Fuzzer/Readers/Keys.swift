import Foundation
import KeychaindGcrypt
import KeychaindModel
import Security

@testable import KeychaindKeys

/// Keys and certificates, as programs give them to the daemon and to Apple's API.
extension FuzzReader {
    static let keys = [
        FuzzReader("rsa-private") { bytes in _ = try KeyMaterial(bytes.copied, type: .rsa, keyClass: .private) },
        FuzzReader("rsa-public") { bytes in _ = try KeyMaterial(bytes.copied, type: .rsa, keyClass: .public) },
        FuzzReader("ec-private") { bytes in _ = try KeyMaterial(bytes.copied, type: .ec, keyClass: .private) },
        FuzzReader("ec-public") { bytes in
            let key = try KeyMaterial(bytes.copied, type: .ec, keyClass: .public)
            _ = try key.publicKeyHash()
        },
        FuzzReader("der-integers") { bytes in
            let integers = try IntegerSequence.parse(bytes.copied, count: 2)
            promise(IntegerSequence.encode(integers).elementsEqual(bytes), "integers have one DER encoding")
        },
        FuzzReader("certificate") { bytes in
            guard let certificate = SecCertificateCreateWithData(nil, NSData(data: Data(bytes))) else {
                throw Refusal()
            }
            _ = SecCertificateCopySubjectSummary(certificate)
            _ = SecCertificateCopyKey(certificate)
            _ = SecCertificateCopySerialNumberData(certificate, nil)
        },
        FuzzReader("pkcs12") { bytes in
            var items: CFArray?
            let options: NSDictionary = [kSecImportExportPassphrase: "1"]
            guard SecPKCS12Import(NSData(data: Data(bytes)), options, &items) == errSecSuccess else { throw Refusal() }
        },
    ]
}
