import CKeychaindTPM
import Glibc
import KeychaindRights

/// A TPM; blocks while it works.
package struct TPM: Sendable {
    /// A failure of the TPM, with a reason for people.
    struct Failure: Error {
        enum Kind {
            /// There is no TPM, or it could not do it.
            case unavailable
            /// A key is of another TPM, or of this one before it was cleared.
            case foreign
            /// A key or a point is malformed.
            case invalid
        }

        let kind: Kind
        let reason: String
    }

    /// The transport (TCTI), in the syntax of tpm2-tss.
    private let transport: String

    /// - Parameter transport: `device:` and a device file, or `swtpm:` for a software TPM.
    package init(transport: String) {
        self.transport = transport
    }

    /// Throws if it is already known that the TPM cannot be used; never waits.
    func check() throws(Failure) {
        if transport.hasPrefix(Self.device) {
            let path = String(transport.dropFirst(Self.device.count))
            guard access(path, R_OK | W_OK) == 0 else {
                let reason =
                    errno == ENOENT || errno == ENOTDIR
                    ? "there is no TPM" : "the TPM cannot be used: \(path): \(String(cString: strerror(errno)))"
                throw Failure(kind: .unavailable, reason: reason)
            }
        }
        var failure = keychaind_tpm_failure()
        guard keychaind_tpm_is_installed(&failure) != 0 else { throw Failure(failure) }
    }

    /// Calls a function of the shim, with the user's rights.
    func perform(
        _ operation: (_ transport: String, _ failure: UnsafeMutablePointer<keychaind_tpm_failure>) -> Int32
    ) throws(Failure) {
        try check()
        var failure = keychaind_tpm_failure()
        let isDone = UserRights.perform { operation(transport, &failure) }
        guard isDone != 0 else { throw Failure(failure) }
    }

    /// Calls a function that writes an object, which only this TPM can load.
    func object(
        _ operation: (
            _ transport: String,
            _ bytes: UnsafeMutablePointer<UInt8>,
            _ size: UnsafeMutablePointer<Int>,
            _ failure: UnsafeMutablePointer<keychaind_tpm_failure>
        ) -> Int32
    ) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(KEYCHAIND_TPM_OBJECT_SIZE))
        var size = 0
        try perform { transport, failure in operation(transport, &bytes, &size, failure) }
        return Array(bytes.prefix(size))
    }

    /// Whether a transport names a kernel device, which no program of the user can impersonate.
    package static func isSystems(_ transport: String) -> Bool {
        let prefix = device + "/dev/tpm"
        return transport.hasPrefix(prefix)
            && transport.dropFirst(prefix.count).utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "rm".utf8.contains(byte)
            }
    }

    private static let device = "device:"
}

extension TPM.Failure {
    fileprivate init(_ failure: keychaind_tpm_failure) {
        kind =
            switch failure.kind {
            case KEYCHAIND_TPM_FOREIGN: .foreign
            case KEYCHAIND_TPM_INVALID: .invalid
            default: .unavailable
            }
        reason = withUnsafeBytes(of: failure.reason) { bytes in
            String(decoding: bytes.prefix { byte in byte != 0 }, as: UTF8.self)
        }
    }
}
