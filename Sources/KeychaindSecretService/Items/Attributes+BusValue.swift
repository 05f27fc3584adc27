import Glibc
package import KeychaindDBus
package import KeychaindModel
import KeychaindVault

extension Attributes: BusValue {
    package static var signature: String { "a{ss}" }

    /// Limits of an item, and so of a search.
    private static let limits = VaultLimits()

    /// Reads at most as many attributes as an item may have; throws `LimitsExceeded` for more.
    package init(from reader: inout Reader) throws(BusError) {
        // The pointers are into the message.
        var pairs: [(name: UnsafePointer<CChar>, value: UnsafePointer<CChar>)] = []
        var room = Attributes.limits.attributeBytes
        try reader.readDictionary(limit: Attributes.limits.attributes) { (reader) throws(BusError) in
            pairs.append((try Attributes.read(&reader, &room), try Attributes.read(&reader, &room)))
        }
        self.init(copying: pairs)
    }

    private static func read(_ reader: inout Reader, _ room: inout Int) throws(BusError) -> UnsafePointer<CChar> {
        let text = try reader.withString { $0 }
        room -= strlen(text) + 1
        guard room >= 0 else {
            throw BusError(.limitsExceeded, "attributes have at most \(limits.attributeBytes) bytes")
        }
        return text
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
