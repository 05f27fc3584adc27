import Foundation
import KeychaindGcrypt

/// A strong password of 69 random bits, in four groups of three letters or digits that are not easily confused.
///
/// - Returns: nil if the kernel gives no random bytes.
public func SecCreateSharedWebCredentialPassword() -> CFString? {
    let alphabet = Array("abcdefghkmnopqrstuvwxyABCDEFGHJKLMNPQRSTUVWXYZ23456789".utf8)
    var characters: [UInt8] = []
    while characters.count < 12 {
        guard let random = try? SecureBytes.random(count: 16) else { return nil }
        // Bytes past the last multiple of the alphabet would favour its beginning.
        let fair = random.withUnsafeBytes { $0.filter { Int($0) < 256 / alphabet.count * alphabet.count } }
        characters += fair.map { alphabet[Int($0) % alphabet.count] }.prefix(12 - characters.count)
    }
    let groups = stride(from: 0, to: 12, by: 3).map { String(decoding: characters[$0..<($0 + 3)], as: UTF8.self) }
    return groups.joined(separator: "-") as NSString
}

/// Not available: shares a password with a site's Safari users.
@available(*, unavailable, message: "Associated domains and Safari's passwords exist on Apple's systems only")
public func SecAddSharedWebCredential(
    _ fqdn: CFString,
    _ account: CFString,
    _ password: CFString?,
    _ completionHandler: @escaping @Sendable (CFError?) -> Void
) {}

/// Not available: asks for a password shared with a site.
@available(*, unavailable, message: "Associated domains and Safari's passwords exist on Apple's systems only")
public func SecRequestSharedWebCredential(
    _ fqdn: CFString?,
    _ account: CFString?,
    _ completionHandler: @escaping @Sendable (CFArray?, CFError?) -> Void
) {}

/// The password of a shared credential.
public nonisolated(unsafe) let kSecSharedPassword: CFString = "spwd"
