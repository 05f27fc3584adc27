package import DBus

/// A secret as it is on the bus: `(oayays)`.
package struct WireSecret: BusValue, Hashable, Sendable {
    package var session: ObjectPath
    package var parameters: [UInt8]
    package var value: [UInt8]
    package var contentType: String

    package init(session: ObjectPath, parameters: [UInt8] = [], value: [UInt8], contentType: String = "text/plain") {
        self.session = session
        self.parameters = parameters
        self.value = value
        self.contentType = contentType
    }

    package static var signature: String { "(oayays)" }

    package init(from reader: inout Reader) throws(BusError) {
        self = try reader.readStructure { (reader) throws(BusError) in
            WireSecret(
                session: try ObjectPath(from: &reader),
                parameters: try ByteArray(from: &reader).bytes,
                value: try ByteArray(from: &reader).bytes,
                contentType: try String(from: &reader)
            )
        }
    }

    package func write(to writer: inout Writer) {
        writer.writeStructure { writer in
            session.write(to: &writer)
            ByteArray(parameters).write(to: &writer)
            ByteArray(value).write(to: &writer)
            contentType.write(to: &writer)
        }
    }
}
