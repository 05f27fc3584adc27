#if Keys
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

    /// Parses one BER value, as some programs write it instead of DER; throws ``errSecDecode`` like the above.
    static func parseBER(_ ber: [UInt8], limit: Int) throws(StatusError) -> ASN1Node {
        guard ber.count <= limit else { throw StatusError(errSecDecode, "\(ber.count) bytes of BER are too many") }
        do {
            return try BER.parse(ber)
        } catch {
            throw StatusError(errSecDecode, "the data is not valid BER")
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

    /// The bytes of an octet string, which may be in pieces in BER.
    func octets(_ identifier: ASN1Identifier) throws(StatusError) -> [UInt8] {
        guard self.identifier == identifier else { throw StatusError(errSecDecode, "a value has an unexpected type") }
        switch content {
        case .primitive(let bytes): return Array(bytes)
        case .constructed(let pieces):
            var bytes: [UInt8] = []
            for piece in pieces { bytes += try piece.octets(.octetString) }
            return bytes
        }
    }

    /// The only value in the explicit tag 0.
    func explicit() throws(StatusError) -> ASN1Node {
        let nodes = try children(ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific))
        guard nodes.count == 1 else { throw StatusError(errSecDecode, "a tagged value is not one value") }
        return nodes[0]
    }

    /// A non-negative integer below 2^32.
    func count() throws(StatusError) -> Int {
        let bytes = try unsignedInteger()
        guard bytes.count <= 4 else { throw StatusError(errSecDecode, "a number is too large") }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
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

    /// The text of a string of any type; nil for anything else.
    var text: String? {
        guard case .primitive(let bytes) = content else { return nil }
        switch identifier {
        case .utf8String, .printableString, .ia5String, .numericString, .visibleString:
            return String(validating: bytes, as: UTF8.self)
        case .teletexString:
            // In practice, issuers use Latin 1.
            return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        case .bmpString:
            guard bytes.count.isMultiple(of: 2) else { return nil }
            let array = Array(bytes)
            let units = stride(from: 0, to: array.count, by: 2).map { UInt16(array[$0]) << 8 | UInt16(array[$0 + 1]) }
            return String(validating: units, as: UTF16.self)
        default:
            return nil
        }
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
#endif
