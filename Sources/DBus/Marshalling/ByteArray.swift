/// An `ay` that is not a secret, such as a public key: read and written in one piece.
package struct ByteArray: BusValue, Hashable, Sendable {
    package var bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package static var signature: String { "ay" }

    package init(from reader: inout Reader) throws(BusError) {
        bytes = try reader.withBytes { (buffer) throws(BusError) in [UInt8](buffer) }
    }

    package func write(to writer: inout Writer) {
        bytes.withUnsafeBytes { writer.writeBytes($0) }
    }
}
