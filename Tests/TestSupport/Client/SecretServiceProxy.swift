package import KeychaindDBus

/// A client of the Secret Service with its own connection, without caches and retries.
///
/// Several proxies on one bus are several programs to the service.
@BusActor
package final class SecretServiceProxy {
    package nonisolated static let service = ObjectPath(unchecked: "/org/freedesktop/secrets")
    package nonisolated static let defaultAlias = ObjectPath(unchecked: "/org/freedesktop/secrets/aliases/default")

    /// The interfaces of the specification.
    package enum Interface {
        package static let service = "org.freedesktop.Secret.Service"
        package static let collection = "org.freedesktop.Secret.Collection"
        package static let item = "org.freedesktop.Secret.Item"
        package static let session = "org.freedesktop.Secret.Session"
        package static let prompt = "org.freedesktop.Secret.Prompt"
    }

    package let connection: Connection
    /// Every received signal of the service.
    package nonisolated let signals = Recorder<BusSignal>()

    package init(on bus: PrivateBus) throws(BusError) {
        connection = try bus.connect()
        for interface in [
            Interface.service, Interface.collection, Interface.item, Interface.prompt, StandardInterface.properties,
        ] {
            connection.subscribe(to: SignalMatch(interface: interface)) { [signals] message in
                signals.record(BusSignal(message: message))
            }
        }
    }

    deinit {
        let connection = connection
        Task { @BusActor in connection.close(flushing: false) }
    }

    /// Disconnects, as at the end of a program.
    package func disconnect() {
        connection.close()
    }

    // MARK: Calls

    /// Calls a method with typed arguments.
    @discardableResult
    package func call<each Value: BusValue>(
        _ path: ObjectPath,
        _ interface: String,
        _ member: String,
        _ arguments: repeat each Value
    ) async throws(BusError) -> Message {
        let message = Message.toService(path, interface, member, repeat each arguments)
        return try await connection.call(message, timeout: Patience.limit)
    }

    /// Pings the service: all its earlier messages have arrived after this.
    package func roundTrip() async throws(BusError) {
        try await call(Self.service, StandardInterface.peer, "Ping")
    }

    // MARK: Properties

    package func property<Value: BusValue>(
        _ name: String,
        of path: ObjectPath,
        _ interface: String,
        as type: Value.Type = Value.self
    ) async throws(BusError) -> Value {
        let reply = try await call(path, StandardInterface.properties, "Get", interface, name)
        var reader = reply.makeReader()
        return try reader.readVariant { (reader) throws(BusError) in try Value(from: &reader) }
    }

    package func properties(of path: ObjectPath, _ interface: String) async throws(BusError) -> [String: Variant] {
        try await call(path, StandardInterface.properties, "GetAll", interface).read([String: Variant].self)
    }

    package func setProperty(
        _ name: String,
        of path: ObjectPath,
        _ interface: String,
        to value: Variant
    ) async throws(BusError) {
        try await call(path, StandardInterface.properties, "Set", interface, name, value)
    }
}

/// A received signal.
package struct BusSignal: Sendable {
    package let message: Message

    package var sender: String { message.sender }
    package var path: String { message.path ?? "" }
    package var interface: String { message.interface ?? "" }
    package var member: String { message.member ?? "" }

    /// The only argument, if it is a path.
    package var objectPath: String? {
        (try? message.read(ObjectPath.self))?.rawValue
    }

    /// Interface and new values of a `PropertiesChanged`.
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

extension Message {
    /// A call of a method of the service with typed arguments.
    package static func toService<each Value: BusValue>(
        _ path: ObjectPath,
        _ interface: String,
        _ member: String,
        _ arguments: repeat each Value
    ) -> Message {
        let message = call(to: KeychainDaemon.busName, path, interface, member)
        message.append(repeat each arguments)
        return message
    }
}
