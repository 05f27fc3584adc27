package import DBus
package import KeychainModel

extension Attributes: BusValue {
    package static var signature: String { "a{ss}" }

    package init(from reader: inout Reader) throws(BusError) {
        var pairs: [(String, String)] = []
        try reader.readDictionary { (reader) throws(BusError) in
            pairs.append((try String(from: &reader), try String(from: &reader)))
        }
        self.init(pairs)
    }

    package func write(to writer: inout Writer) {
        writer.writeArray(of: "{ss}") { writer in
            forEach { name, value in
                writer.writeEntry { writer in
                    writer.writeString(name)
                    writer.writeString(value)
                }
            }
        }
    }
}
