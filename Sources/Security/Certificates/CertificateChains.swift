#if Keys
import KeychaindModel
import SecretServiceClient
import SwiftASN1

extension SecretClient {
    /// Whether a certificate meets conditions; issuers of issuers are found in the keychain.
    func areMet(
        _ conditions: CertificateConditions,
        by item: FoundItem
    ) async throws(SecretServiceError) -> Bool {
        guard let certificate = try? item.certificate, conditions.areMet(by: certificate) else { return false }
        guard !conditions.issuers.isEmpty else { return true }
        var name = certificate.contents.issuer
        for _ in 0..<SecretClient.maximumChainLength {
            if conditions.isIssuer(name) { return true }
            guard let issuer = try await issuer(named: name), issuer != name else { return false }
            name = issuer
        }
        return false
    }

    private static let maximumChainLength = 10

    /// The issuer of the certificate in the keychain with a subject; nil if there is none.
    private func issuer(named subject: DistinguishedName) async throws(SecretServiceError) -> DistinguishedName? {
        var query = ItemQuery()
        query.itemClass = .certificate
        query.values[.subject] = .data(subject.der)
        query.synchronizable = .any
        guard let search = try? query.search(),
            let match = try await matches(search, nil, limit: 1).first,
            let record = match.record,
            case .data(let der)? = KeychainItem(record.properties)[.issuer]
        else { return nil }
        return try? DistinguishedName(ASN1Node.parse(der, limit: 1 << 20))
    }
}
#endif
