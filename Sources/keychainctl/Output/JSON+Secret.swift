import KeychaindGcrypt
import KeychaindModel
import SecretServiceClient

extension JSON {
    /// Appends a secret as a string: text with the escapes of `string`, other bytes in base 64.
    ///
    /// There is room for a few more bytes afterwards: an array that grows leaves a copy of the secret.
    ///
    /// - Parameter isMember: whether the name of the member comes first, `secret` or `secret-base64`.
    static func append(_ secret: borrowing Secret, isMember: Bool, to output: inout [UInt8]) {
        output.reserveCapacity(output.count + secret.count * 6 + 64)
        secret.withUnsafeBytes { bytes in
            if UTF8Check.isValid(bytes) {
                if isMember { output += Array("\"secret\": ".utf8) }
                append(bytes, to: &output)
            } else {
                output += Array((isMember ? "\"secret-base64\": \"" : "\"base64:").utf8)
                Base64.append(bytes, to: &output)
                output.append(UInt8(ascii: "\""))
            }
        }
    }
}
