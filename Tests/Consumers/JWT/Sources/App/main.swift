import Crypto
import Foundation
import JWTKit

struct Claims: JWTPayload {
    let sub: SubjectClaim

    func verify(using algorithm: some JWTAlgorithm) async throws {}
}

extension Data {
    /// As in tokens: the URL-safe alphabet, without padding.
    var base64URL: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    init?(base64URL text: some StringProtocol) {
        let text = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        self.init(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
    }
}

let key = try KeychainKey()
switch CommandLine.arguments.dropFirst().first {
case "export": print(key.isExtractable ? "extractable" : "not extractable")
case "sign":
    let claims = try JSONEncoder().encode(Claims(sub: SubjectClaim(value: CommandLine.arguments[2])))
    let signed = Data(#"{"alg":"ES256","typ":"JWT"}"#.utf8).base64URL + "." + claims.base64URL
    print(signed + "." + (try key.sign(Data(signed.utf8))).base64URL)
case "verify":
    let publicKey = try ES256PublicKey(backing: key.publicKey)
    let keys = await JWTKeyCollection().add(ecdsa: publicKey)
    let claims = try? await keys.verify(readLine() ?? "", as: Claims.self)
    print(claims?.sub.value ?? "refused")
default:
    let other = ES256PrivateKey()
    let token = try await JWTKeyCollection().add(ecdsa: other).sign(Claims(sub: "bob"))
    let parts = token.split(separator: ".")
    guard let signature = Data(base64URL: parts[2]) else { fatalError("no signature") }
    let signed = Data((parts[0] + "." + parts[1]).utf8)
    let publicKey = try P256.Signing.PublicKey(pemRepresentation: other.publicKey.pemRepresentation)
    print(try isValid(signature, of: signed, by: publicKey) ? "accepted" : "refused")
}
