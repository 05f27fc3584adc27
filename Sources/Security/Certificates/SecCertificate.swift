#if Keys
public import Foundation
import SwiftASN1

/// An X.509 certificate.
///
/// Trust is not evaluated.
public final class SecCertificate: Hashable, Sendable {
    let bytes: [UInt8]
    let contents: CertificateContents

    /// The item that it was read from, if any.
    let reference: PersistentReference?

    init(_ bytes: [UInt8], _ reference: PersistentReference? = nil) throws(StatusError) {
        self.bytes = bytes
        self.reference = reference
        contents = try CertificateContents(bytes)
    }

    /// Compares the certificates, not their items.
    public static func == (left: SecCertificate, right: SecCertificate) -> Bool {
        left.bytes == right.bytes
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytes)
    }
}

extension SecCertificate: CustomStringConvertible {
    /// The summary of the subject.
    public var description: String { "certificate of \(contents.summary ?? "nobody")" }
}

/// Creates a certificate.
///
/// - Parameters:
///   - allocator: not used.
///   - data: the certificate in DER.
/// - Returns: nil if the data is not a certificate.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    try? SecCertificate(data.contents)
}

/// The certificate in DER.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    Data(certificate.bytes) as NSData
}

/// The common name of the subject, or another recognisable name; nil if it has none.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.contents.summary as NSString?
}

/// Copies the common name of the subject.
///
/// - Parameters:
///   - certificate: the certificate.
///   - commonName: receives the name; nil if there is none.
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecCertificateCopyCommonName(
    _ certificate: SecCertificate,
    _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
    commonName.pointee = certificate.contents.subject.text(of: .NameAttributes.commonName) as NSString?
    return errSecSuccess
}

/// Copies the email addresses of the subject.
///
/// - Parameters:
///   - certificate: the certificate.
///   - emailAddresses: receives an array of texts.
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecCertificateCopyEmailAddresses(
    _ certificate: SecCertificate,
    _ emailAddresses: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    emailAddresses.pointee = certificate.contents.emailAddresses.map { $0 as NSString } as NSArray
    return errSecSuccess
}

/// The public key; nil for an unsupported algorithm or an invalid key.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    (try? certificate.contents.key()).map { SecKey($0) }
}

/// The serial number in big-endian order, with a leading zero where it would be negative.
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    Data(certificate.contents.serialNumber) as NSData
}

/// The serial number, as ``SecCertificateCopySerialNumberData(_:_:)`` returns it.
public func SecCertificateCopySerialNumber(
    _ certificate: SecCertificate,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    SecCertificateCopySerialNumberData(certificate, error)
}

/// The beginning of the validity; nil if the certificate has no valid date.
public func SecCertificateCopyNotValidBeforeDate(_ certificate: SecCertificate) -> CFDate? {
    certificate.contents.validity.start.map { NSDate(timeIntervalSince1970: $0) }
}

/// The end of the validity; nil if the certificate has no valid date.
public func SecCertificateCopyNotValidAfterDate(_ certificate: SecCertificate) -> CFDate? {
    certificate.contents.validity.end.map { NSDate(timeIntervalSince1970: $0) }
}

/// The issuer in DER, as ``kSecAttrIssuer`` has it; as encoded in the certificate, not normalised.
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
    Data(certificate.contents.issuer.der) as NSData
}

/// The subject in DER, as ``kSecAttrSubject`` has it; as encoded in the certificate, not normalised.
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
    Data(certificate.contents.subject.der) as NSData
}

/// Copies the public key.
///
/// - Parameters:
///   - certificate: the certificate.
///   - key: receives the key.
/// - Returns: ``errSecSuccess``, or ``errSecDecode`` or ``errSecUnimplemented`` without a key.
@discardableResult
public func SecCertificateCopyPublicKey(
    _ certificate: SecCertificate,
    _ key: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
    status { () throws(StatusError) in key.pointee = SecKey(try certificate.contents.key()) }
}

/// The public key; nil for an unsupported algorithm or an invalid key.
public func SecCertificateCopyPublicKey(_ certificate: SecCertificate) -> SecKey? {
    SecCertificateCopyKey(certificate)
}
#endif
