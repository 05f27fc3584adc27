import KeychaindModel

extension KeyMaterial {
    /// Whether the key can do an operation with an algorithm.
    package func supports(_ operation: KeyOperation, _ algorithm: KeyAlgorithm) -> Bool {
        algorithm.fits(operation, type: type, keyClass: keyClass, bits: bits)
    }

    func check(_ operation: KeyOperation, _ algorithm: KeyAlgorithm) throws(KeyError) {
        guard supports(operation, algorithm) else { throw unsuitable(algorithm) }
    }

    func unsuitable(_ algorithm: KeyAlgorithm) -> KeyError {
        KeyError(
            .unsuitableAlgorithm,
            "\(algorithm.rawValue) is not for \(keyClass.rawValue) keys, \(type.rawValue), of \(bits) bits"
        )
    }
}
