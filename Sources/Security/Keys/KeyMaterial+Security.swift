#if Keys
import KeychaindKeys
import KeychaindModel
import SecretServiceClient

extension StatusError {
    /// Translates an error of a key; the only mapping to Apple's codes.
    init(_ error: KeyError) {
        let status =
            switch error.code {
            case .malformedKey: errSecDecode
            case .foreignKey: errSecInvalidKeyBlob
            case .tokenUnavailable: errSecNotAvailable
            case .unsupportedKey: errSecUnimplemented
            case .unsuitableAlgorithm, .invalidInput, .decryptionFailed: errSecParam
            case .outOfMemory: errSecAllocate
            case .operationFailed: errSecInternalError
            }
        self.init(status, error.reason)
    }

    /// Runs an operation with a key, and translates its error.
    static func translating<Result: ~Copyable>(
        key operation: () throws(KeyError) -> Result
    ) throws(StatusError) -> Result {
        do throws(KeyError) {
            return try operation()
        } catch {
            throw StatusError(error)
        }
    }
}

extension SecretServiceError {
    /// The result code of a failed operation with a key; nil for other failures.
    var keyStatus: OSStatus? {
        keyErrorName.flatMap(KeyError.Code.init).map { StatusError(KeyError($0, reason)).status }
    }
}

extension KeyMaterial {
    /// Reads a key, with Apple's result codes.
    init(checking bytes: [UInt8], type: KeyType, keyClass: KeyClass) throws(StatusError) {
        self = try StatusError.translating(key: { () throws(KeyError) in
            try KeyMaterial(bytes, type: type, keyClass: keyClass)
        })
    }

    /// The external representation, which programs keep in ordinary memory.
    var bytes: [UInt8] { withExternalRepresentation { Array($0) } }

    /// The attributes of its item.
    func values() throws(StatusError) -> [KeychainAttribute: KeychainValue] {
        var values: [KeychainAttribute: KeychainValue] = [
            .keyClass: .text(keyClass.code), .keyType: .text(type.code), .keySize: .number(Int64(bits)),
            .effectiveKeySize: .number(Int64(bits)),
        ]
        let hash = try StatusError.translating(key: { () throws(KeyError) in try publicKeyHash() })
        values[.applicationLabel] = hash.map(KeychainValue.data)
        return values
    }
}
#endif
