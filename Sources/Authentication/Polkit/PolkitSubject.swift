package import DBus

/// Whom polkit is asked about: `(sa{sv})`.
package enum PolkitSubject: BusValue, Hashable, Sendable {
    /// Whoever has a connection to the system bus; polkit finds the process itself.
    case connection(uniqueName: String)

    /// A process, with its start time in clock ticks since boot (proc(5), field 22 of stat) and its user.
    case process(id: UInt32, startTime: UInt64, user: Int32)

    /// The D-Bus signature.
    package static var signature: String { "(sa{sv})" }

    /// Reads a subject of either kind; throws `InvalidArgs` for another.
    package init(from reader: inout Reader) throws(BusError) {
        let (kind, details) = try reader.readStructure { (reader) throws(BusError) in
            (try String(from: &reader), try [String: Variant](from: &reader))
        }
        switch (kind, details["name"], details["pid"], details["start-time"], details["uid"]) {
        case ("system-bus-name", .string(let name), _, _, _):
            self = .connection(uniqueName: name)
        case ("unix-process", _, .uint32(let id), .uint64(let startTime), .int32(let user)):
            self = .process(id: id, startTime: startTime, user: user)
        default:
            throw BusError(.invalidArguments, "a subject of the kind '\(kind)' is not known here")
        }
    }

    /// Appends the subject.
    package func write(to writer: inout Writer) {
        writer.writeStructure { writer in
            switch self {
            case .connection(let name):
                "system-bus-name".write(to: &writer)
                ["name": Variant.string(name)].write(to: &writer)
            case .process(let id, let startTime, let user):
                "unix-process".write(to: &writer)
                ["pid": Variant.uint32(id), "start-time": .uint64(startTime), "uid": .int32(user)].write(to: &writer)
            }
        }
    }
}
