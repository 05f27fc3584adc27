/// The interfaces that every object has, as the D-Bus specification defines them.
///
/// libdbus answers `Peer` itself, for every path.
package enum StandardInterface {
    package static let introspectable = "org.freedesktop.DBus.Introspectable"
    package static let properties = "org.freedesktop.DBus.Properties"
    package static let peer = "org.freedesktop.DBus.Peer"

    static let all: Set<String> = [introspectable, properties, peer]

    /// The methods that are answered here, with the signatures of their arguments.
    static let methods = [
        introspectable: ["Introspect": ""],
        properties: ["Get": "ss", "GetAll": "s", "Set": "ssv"],
    ]
}
