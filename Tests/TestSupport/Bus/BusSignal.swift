package import DBus

/// A signal that a test has heard.
package struct BusSignal: Sendable {
    package let message: Message

    package var sender: String { message.sender }
    package var path: String { message.path ?? "" }
    package var interface: String { message.interface ?? "" }
    package var member: String { message.member ?? "" }

    /// The only argument, if that is a path.
    package var objectPath: String? {
        (try? message.read(ObjectPath.self))?.rawValue
    }

    /// The interface and the new values, if this is `PropertiesChanged`.
    package var changedProperties: (interface: String, values: [String: Variant])? {
        guard member == "PropertiesChanged" else { return nil }
        guard let (interface, values, _) = try? message.read(String.self, [String: Variant].self, [String].self) else {
            return nil
        }
        return (interface, values)
    }
}

extension BusSignal: CustomStringConvertible {
    package var description: String {
        if let (interface, values) = changedProperties {
            return "\(path) PropertiesChanged \(interface) \(values.keys.sorted().joined(separator: " "))"
        }
        return "\(path) \(interface).\(member) \(objectPath ?? "(\(message.signature))")"
    }
}
