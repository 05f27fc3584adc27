import Foundation
package import SecretServiceClient

/// A secret with several owners; its bytes are overwritten with the last reference.
package final class SharedSecret: Sendable {
    package let secret: Secret

    package init(_ secret: consuming Secret) {
        self.secret = secret
    }

    /// Copies bytes; the caller overwrites the original.
    package convenience init(copying data: Data) throws(SecretServiceError) {
        self.init(
            try data.bytes.withUnsafeBytes { (bytes) throws(SecretServiceError) in try Secret(copying: bytes) }
        )
    }
}
