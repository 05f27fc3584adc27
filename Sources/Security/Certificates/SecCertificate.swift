public import Foundation
import SwiftASN1

/// An X.509 certificate.
///
/// It is kept, found and looked into; whether it is to be trusted is not decided here.
public final class SecCertificate: Hashable, Sendable {
    let bytes: [UInt8]
    let contents: CertificateContents

    /// The item that it was read from.
    let reference: PersistentReference?

    init(_ bytes: [UInt8], _ reference: PersistentReference? = nil) throws(StatusError) {
        self.bytes = bytes
        self.reference = reference
        contents = try CertificateContents(bytes)
    }

    /// Whether both are the same certificate, wherever they are from.
    public static func == (left: SecCertificate, right: SecCertificate) -> Bool {
        left.bytes == right.bytes
    }

    /// Feeds the bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytes)
    }
}

extension SecCertificate: CustomStringConvertible {
    /// The subject, as people know it.
    public var description: String { "certificate of \(contents.summary ?? "nobody")" }
}

/// Makes a certificate.
///
/// - Parameters:
///   - allocator: not used.
///   - data: the certificate in DER.
/// - Returns: nil if the data is no certificate.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    try? SecCertificate([UInt8](data as Data))
}

/// The certificate in DER.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    Data(certificate.bytes) as NSData
}

/// The subject, as people know it: its common name, or the next best; nil if it has no name.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.contents.summary as NSString?
}

/// The common name of the subject.
///
/// - Parameters:
///   - certificate: the certificate.
///   - commonName: takes the name; nil if there is none.
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecCertificateCopyCommonName(
    _ certificate: SecCertificate,
    _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
    commonName.pointee = certificate.contents.subject.text(of: .NameAttributes.commonName) as NSString?
    return errSecSuccess
}

/// The addresses of the subject.
///
/// - Parameters:
///   - certificate: the certificate.
///   - emailAddresses: takes an array of texts.
/// - Returns: ``errSecSuccess``.
@discardableResult
public func SecCertificateCopyEmailAddresses(
    _ certificate: SecCertificate,
    _ emailAddresses: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    emailAddresses.pointee = certificate.contents.emailAddresses.map { $0 as NSString } as NSArray
    return errSecSuccess
}

/// The public key; nil if it is for an algorithm that is not known here, or no key.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    (try? certificate.contents.key()).map { SecKey($0) }
}

/// The serial number, as the certificate has it: most significant byte first, with a zero before it where it would be negative.
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    Data(certificate.contents.serialNumber) as NSData
}
