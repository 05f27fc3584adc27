import KeychaindDBus
import KeychaindGcrypt
import KeychaindKeys

/// A private key in use; its operations take milliseconds or more, and run on a thread of their own.
protocol PrivateKey: Sendable {
    func sign(_ data: [UInt8], _ algorithm: KeyAlgorithm) throws(KeyError) -> [UInt8]

    func decrypt(_ ciphertext: [UInt8], _ algorithm: KeyAlgorithm) throws(KeyError) -> SecureBytes

    func agree(
        with publicKey: [UInt8],
        _ algorithm: KeyAlgorithm,
        size: Int?,
        sharedInfo: [UInt8]
    ) throws(KeyError) -> SecureBytes

    /// The external representation of the public key; nil if the private key does not have it.
    var publicBytes: [UInt8]? { get }
}

extension KeyMaterial: PrivateKey {}

extension TokenKey: PrivateKey {
    var publicBytes: [UInt8]? { publicKey }
}

extension BusError {
    /// Converts an error of a key: its code under keychaind's prefix.
    init(_ error: KeyError) {
        self.init(ErrorName(error.code), error.reason)
    }
}

extension ErrorName {
    init(_ code: KeyError.Code) {
        let name = code.rawValue
        self.init(rawValue: "\(InterfaceName.key).Error." + name.prefix(1).uppercased() + name.dropFirst())
    }
}

/// The outcome of an operation with a key, on its way from a thread to the loop.
struct KeyOutcome<Value: ~Copyable & Sendable>: ~Copyable, Sendable {
    private let result: Result<Value, KeyError>

    init(_ operation: () throws(KeyError) -> Value) {
        do throws(KeyError) {
            result = .success(try operation())
        } catch {
            result = .failure(error)
        }
    }

    consuming func get() throws(KeyError) -> Value { try result.get() }
}
