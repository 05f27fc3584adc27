#if Keys
public import Foundation
import KeychaindGcrypt
import KeychaindKeys

// `nonisolated(unsafe)`: immutable strings, whose class is not declared Sendable.

/// The password of the file.
public nonisolated(unsafe) let kSecImportExportPassphrase: CFString = "passphrase"

/// The keychain to import to, on macOS; ignored, since nothing is stored.
public nonisolated(unsafe) let kSecImportExportKeychain: CFString = "keychain"

/// The access list of imported items, on macOS; ignored, since nothing is stored.
public nonisolated(unsafe) let kSecImportExportAccess: CFString = "access"

/// Whether to keep imported items in memory only; ignored, since nothing is stored.
public nonisolated(unsafe) let kSecImportToMemoryOnly: CFString = "memory"

/// The name of an imported item.
public nonisolated(unsafe) let kSecImportItemLabel: CFString = "label"

/// The identifier of an imported key in its file, or the hash of its public key.
public nonisolated(unsafe) let kSecImportItemKeyID: CFString = "keyid"

/// The trust in an imported certificate; never in a result, since trust is not evaluated here.
public nonisolated(unsafe) let kSecImportItemTrust: CFString = "trust"

/// The certificates of an imported item, from its own to the root, as far as the file has them.
public nonisolated(unsafe) let kSecImportItemCertChain: CFString = "chain"

/// The imported identity: a ``SecIdentity``.
public nonisolated(unsafe) let kSecImportItemIdentity: CFString = "identity"

/// Reads the identities and certificates of a PKCS #12 file, of PBES2 or the older encryptions.
///
/// As on iOS, nothing is stored; pass an identity to ``SecItemAdd(_:_:)`` for that.
///
/// - Parameters:
///   - pkcs12_data: the file, up to 16 MiB.
///   - options: ``kSecImportExportPassphrase``; without it, the password is empty.
///   - items: receives an array of a dictionary for each identity, then for each certificate without a key that
///     belongs to none, with the keys `kSecImportItem…`.
/// - Returns: ``errSecSuccess``; ``errSecAuthFailed`` for a wrong password or a changed file; ``errSecDecode`` for
///   anything else than such a file; ``errSecUnsupportedFormat`` or ``errSecUnimplemented`` for unsupported algorithms.
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: CFData,
    _ options: CFDictionary,
    _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    status { () throws(StatusError) in
        var password = ""
        if let value = options[kSecImportExportPassphrase as String] {
            guard case .text(let text) = QueryValue(value) else {
                throw StatusError(errSecParam, "the password is not text")
            }
            password = text
        }
        let contents = try PKCS12Contents(pkcs12_data.contents, password: password)
        items.pointee = try contents.items() as NSArray
    }
}

extension PKCS12Contents {
    /// The result of an import.
    fileprivate func items() throws(StatusError) -> [NSDictionary] {
        var items: [NSDictionary] = []
        var others = certificates
        for key in keys {
            guard let own = certificates.first(where: { $0.value.contents.publicKey == key.value.publicBytes })
            else { continue }
            let chain = chain(from: own.value)
            others.removeAll { other in chain.contains(other.value) }
            let hash = try StatusError.translating(key: { () throws(KeyError) in try key.value.publicKeyHash() })
            var item = PKCS12Contents.item(own, chain, key.name)
            item[kSecImportItemIdentity as String] = SecIdentity(own.value, SecKey(key.value))
            item[kSecImportItemKeyID as String] = Data(key.id ?? own.id ?? hash ?? []) as NSData
            items.append(item as NSDictionary)
        }
        for other in others {
            items.append(PKCS12Contents.item(other, [other.value], nil) as NSDictionary)
        }
        return items
    }

    private static func item(_ own: Entry<SecCertificate>, _ chain: [SecCertificate], _ name: String?) -> [String: Any]
    {
        let label = name ?? own.name ?? own.value.contents.summary
        var item: [String: Any] = [kSecImportItemCertChain as String: chain as NSArray]
        item[kSecImportItemLabel as String] = label as NSString?
        return item
    }

    /// A certificate and its issuers in the file, by their names; no signature is verified.
    private func chain(from first: SecCertificate) -> [SecCertificate] {
        var chain = [first]
        while let last = chain.last, last.contents.issuer != last.contents.subject,
            let issuer = certificates.first(where: { $0.value.contents.subject == last.contents.issuer })?.value,
            !chain.contains(issuer)
        {
            chain.append(issuer)
        }
        return chain
    }
}
#endif
