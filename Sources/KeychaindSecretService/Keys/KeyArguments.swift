import KeychaindDBus
import KeychaindKeys

/// Limits and readers of the arguments of `Key1`.
enum KeyArguments {
    /// The most bytes to sign or decrypt; a signature of more is one of a digest.
    static let dataBytes = 16 << 20

    /// The most bytes of a public key, of shared information and of an agreed secret.
    static let agreementBytes = 64 << 10

    static let parameters = 16

    /// Reads the name of an algorithm for an operation; throws `InvalidArgs` for any other.
    static func readAlgorithm(
        _ reader: inout Reader,
        for operation: KeyOperation
    ) throws(BusError) -> KeyAlgorithm {
        let name = try String(from: &reader)
        guard let algorithm = KeyAlgorithm(rawValue: name), algorithm.serves(operation) else {
            throw BusError(KeyError(.unsuitableAlgorithm, "no such algorithm serves the operation"))
        }
        return algorithm
    }

    /// Reads bytes; throws `LimitsExceeded` for too many.
    static func readBytes(_ reader: inout Reader, limit: Int) throws(BusError) -> [UInt8] {
        try reader.withBytes { (bytes) throws(BusError) in
            guard bytes.count <= limit else {
                throw BusError(.limitsExceeded, "at most \(limit) bytes are accepted, not \(bytes.count)")
            }
            return Array(bytes)
        }
    }
}

/// The parameters of a key agreement.
struct AgreementParameters {
    /// Size of the secret in bytes; nil if the algorithm has no choice.
    private(set) var requestedSize: Int?
    private(set) var sharedInfo: [UInt8] = []

    /// Reads an `a{sv}`; skips unknown names, throws `InvalidArgs` for a wrong type.
    init(from reader: inout Reader) throws(BusError) {
        try reader.readDictionary(limit: KeyArguments.parameters) { (reader) throws(BusError) in
            switch try String(from: &reader) {
            case "requestedSize":
                let size = try reader.readVariant(of: UInt32.self)
                guard size <= KeyArguments.agreementBytes else {
                    throw BusError(.limitsExceeded, "a secret has at most \(KeyArguments.agreementBytes) bytes")
                }
                requestedSize = Int(size)
            case "sharedInfo":
                sharedInfo = try reader.readVariant { (reader) throws(BusError) in
                    try KeyArguments.readBytes(&reader, limit: KeyArguments.agreementBytes)
                }
            default:
                reader.skip()
            }
        }
    }
}
