import SwiftASN1

extension ASN1Node {
    /// Parses one DER value; throws ``errSecDecode`` if it is invalid, too large or too deep.
    static func parse(_ der: some Collection<UInt8>, limit: Int) throws(StatusError) -> ASN1Node {
        guard der.count <= limit else { throw StatusError(errSecDecode, "\(der.count) bytes of DER are too many") }
        do {
            return try DER.parse(Array(der))
        } catch {
            throw StatusError(errSecDecode, "the data is not valid DER")
        }
    }

    /// The values inside of a value of a type.
    func children(_ identifier: ASN1Identifier) throws(StatusError) -> [ASN1Node] {
        guard self.identifier == identifier, case .constructed(let nodes) = content else {
            throw StatusError(errSecDecode, "a DER value has an unexpected type")
        }
        return Array(nodes)
    }

    /// The bytes of a value of a type.
    func primitive(_ identifier: ASN1Identifier) throws(StatusError) -> [UInt8] {
        guard self.identifier == identifier, case .primitive(let bytes) = content else {
            throw StatusError(errSecDecode, "a DER value has an unexpected type")
        }
        return Array(bytes)
    }

    /// The bytes of an integer in DER.
    func integer() throws(StatusError) -> [UInt8] {
        let bytes = try primitive(.integer)
        guard let first = bytes.first else { throw StatusError(errSecDecode, "a DER integer is empty") }
        // Nine equal leading bits mean a superfluous byte (X.690, 8.3.2).
        if bytes.count > 1, first == 0 && bytes[1] < 0x80 || first == 0xff && bytes[1] >= 0x80 {
            throw StatusError(errSecDecode, "a DER integer has superfluous bytes")
        }
        return bytes
    }

    /// The bytes of a non-negative integer, without leading zeros.
    func unsignedInteger() throws(StatusError) -> [UInt8] {
        let bytes = try integer()
        guard bytes[0] < 0x80 else { throw StatusError(errSecDecode, "a DER integer is negative") }
        return Array(bytes.drop { $0 == 0 })
    }

    /// The bytes of a bit string of whole bytes.
    func bitString() throws(StatusError) -> [UInt8] {
        let bytes = try primitive(.bitString)
        guard bytes.first == 0 else { throw StatusError(errSecDecode, "a DER bit string does not end at a byte") }
        return Array(bytes.dropFirst())
    }

    /// An object identifier.
    func objectIdentifier() throws(StatusError) -> ASN1ObjectIdentifier {
        do {
            return try ASN1ObjectIdentifier(derEncoded: self)
        } catch {
            throw StatusError(errSecDecode, "an object identifier is invalid")
        }
    }
}

extension DER.Serializer {
    /// Appends a non-negative integer.
    mutating func append(unsigned bytes: [UInt8]) {
        let significant = bytes.drop { $0 == 0 }
        let needsZero = (significant.first ?? 0x80) >= 0x80
        appendPrimitiveNode(identifier: .integer) { $0 += (needsZero ? [0] : []) + significant }
    }
}
