import Glibc

/// A kind of objects: their interfaces and the lookup of their children.
@BusActor
package final class ObjectKind<Object> {
    private let interfaces: [Interface<Object>]
    private let byName: [String: Interface<Object>]
    private let table: CallTable
    private let children: @BusActor (Object) -> [String]

    /// - Parameter children: the path elements directly below an object, for introspection.
    package init(_ interfaces: [Interface<Object>], children: @escaping @BusActor (Object) -> [String] = { _ in [] }) {
        self.interfaces = interfaces
        byName = Dictionary(uniqueKeysWithValues: interfaces.map { ($0.name, $0) })
        table = CallTable(interfaces)
        self.children = children
    }

    package func target(_ object: Object) -> any ObjectTarget {
        Target(kind: self, object: object)
    }

    private struct Target: ObjectTarget {
        let kind: ObjectKind<Object>
        let object: Object

        func dispatch(_ call: MethodCall) throws(BusError) -> Dispatch {
            try kind.dispatch(call, on: object)
        }
    }

    /// Dispatches a call to an object; throws the error for the caller.
    package func dispatch(_ call: MethodCall, on object: Object) throws(BusError) -> Dispatch {
        guard let name = call.message.interfaceName, let member = call.message.memberName else {
            return try dispatchWithoutInterface(call, on: object)
        }
        guard let methods = table.methods(of: name) else { return try dispatchStandard(call, on: object) }
        return try withUnsafePointer(to: object) { (object) throws(BusError) in
            try methods.dispatch(call, member, on: object)
        }
    }

    /// Throws the error that a call gets for any object: unknown method or wrong arguments.
    package func check(_ call: MethodCall) throws(BusError) {
        guard let name = call.message.interfaceName, let member = call.message.memberName else {
            guard let method = method(named: call.member) else { return }
            return try CallTable.check(method.name, method.inputSignature, call)
        }
        if let methods = table.methods(of: name) { return try methods.check(call, member) }
        guard let methods = StandardInterface.methods[call.interface ?? ""] else {
            throw BusError(.unknownInterface, "the object has no interface \(call.interface ?? "")")
        }
        guard let signature = methods[call.member] else {
            throw BusError(.unknownMethod, "the object has no method \(call.member)")
        }
        try CallTable.check(call.member, signature, call)
    }

    private func method(named name: String) -> Method<Object>? {
        interfaces.lazy.flatMap(\.methods).first { $0.name == name }
    }

    private func dispatchStandard(_ call: MethodCall, on object: Object) throws(BusError) -> Dispatch {
        switch call.interface {
        case StandardInterface.introspectable:
            try dispatchIntrospectable(call, on: object)
            return .answered
        case StandardInterface.properties:
            return try dispatchProperties(call, on: object)
        case let name:
            throw BusError(.unknownInterface, "the object has no interface \(name ?? "")")
        }
    }

    /// The first interface with the method gets the call.
    private func dispatchWithoutInterface(_ call: MethodCall, on object: Object) throws(BusError) -> Dispatch {
        if let method = method(named: call.member) {
            try CallTable.check(method.name, method.inputSignature, call)
            return try method.body(object, call)
        }
        guard call.member == "Introspect" else { return try dispatchProperties(call, on: object) }
        try dispatchIntrospectable(call, on: object)
        return .answered
    }

    // MARK: Properties

    private func dispatchProperties(_ call: MethodCall, on object: Object) throws(BusError) -> Dispatch {
        switch call.member {
        case "Get":
            let (interface, name) = try call.arguments(String.self, String.self)
            let property = try property(name, of: interface)
            call.reply { property.write(object, &$0) }
        case "GetAll":
            let interface = try call.arguments(String.self)
            let properties = try properties(of: interface)
            call.peer.didReadAllProperties()
            call.reply { writer in
                writer.writeArray(of: "{sv}") { writer in
                    for property in properties {
                        writer.writeEntry { writer in
                            property.name.write(to: &writer)
                            property.write(object, &writer)
                        }
                    }
                }
            }
        case "Set":
            guard call.message.hasSignature("ssv") else {
                throw BusError(.invalidArguments, "Set takes 'ssv', not '\(call.message.signature)'")
            }
            var reader = call.message.makeReader()
            let interface = try String(from: &reader)
            let property = try property(try String(from: &reader), of: interface)
            guard let set = property.set else {
                throw BusError(.propertyReadOnly, "\(property.name) cannot be set")
            }
            return .suspending { () async throws(BusError) in
                try await set(object, call.message)
                call.reply()
            }
        default:
            throw BusError(.unknownMethod, "the object has no method \(call.member)")
        }
        return .answered
    }

    private func property(_ name: String, of interface: String) throws(BusError) -> Property<Object> {
        guard let property = try properties(of: interface).first(where: { $0.name == name }) else {
            throw BusError(.unknownProperty, "\(interface) has no property \(name)")
        }
        return property
    }

    /// The properties of an interface; for an empty name those of all, as the D-Bus specification allows.
    private func properties(of interface: String) throws(BusError) -> [Property<Object>] {
        if interface.isEmpty {
            return interfaces.flatMap(\.properties)
        }
        if let interface = byName[interface] {
            return interface.properties
        }
        guard StandardInterface.all.contains(interface) else {
            throw BusError(.unknownInterface, "the object has no interface \(interface)")
        }
        return []
    }

    // MARK: Introspection

    private func dispatchIntrospectable(_ call: MethodCall, on object: Object) throws(BusError) {
        guard call.member == "Introspect" else {
            throw BusError(.unknownMethod, "the object has no method \(call.member)")
        }
        guard call.message.hasSignature("") else {
            throw BusError(.invalidArguments, "Introspect takes no arguments")
        }
        var document = IntrospectionDocument()
        for interface in interfaces {
            document.add(interface)
        }
        document.addChildren(children(object))
        call.reply(with: document.finish())
    }
}

@BusActor
package protocol ObjectTarget {
    /// Dispatches a call; throws the error for the caller.
    func dispatch(_ call: MethodCall) throws(BusError) -> Dispatch
}

package enum Dispatch {
    case answered
    /// The call is answered when this closure ends.
    case suspending(@BusActor () async throws(BusError) -> Void)

    /// Runs the rest of a call that suspends.
    @BusActor
    package func finish() async throws(BusError) {
        if case .suspending(let body) = self { try await body() }
    }
}

/// The standard interfaces that every object has; ``ObjectServer`` answers `Peer` at every path.
package enum StandardInterface {
    package static let introspectable = "org.freedesktop.DBus.Introspectable"
    package static let properties = "org.freedesktop.DBus.Properties"
    package static let peer = "org.freedesktop.DBus.Peer"

    static let all: Set<String> = [introspectable, properties, peer]

    static let methods = [
        introspectable: ["Introspect": ""],
        properties: ["Get": "ss", "GetAll": "s", "Set": "ssv"],
    ]
}

/// The methods of a kind of objects, by interface and name.
///
/// Not generic, with objects passed by address: unspecialized generic code spends more time on type metadata than the
/// rest of a call takes.
struct CallTable {
    fileprivate typealias Body = @BusActor (UnsafeRawPointer, MethodCall) throws(BusError) -> Dispatch

    struct Methods {
        fileprivate let interface: String
        fileprivate let wireName: WireName
        fileprivate let entries: [Entry]
    }

    fileprivate struct Entry {
        let name: String
        let wireName: WireName
        /// Nil if arguments of any type are taken.
        let inputSignature: WireName?
        let inputTypes: String
        /// Whether the first argument is a list, which a caller can make as long as a message.
        let takesList: Bool
        let body: CallTable.Body
    }

    private let interfaces: [Methods]

    init<Object>(_ interfaces: [Interface<Object>]) {
        self.interfaces = interfaces.map { interface in
            Methods(
                interface: interface.name,
                wireName: WireName(interface.name),
                entries: interface.methods.map(Entry.init)
            )
        }
    }

    func methods(of interface: UnsafePointer<CChar>) -> Methods? {
        interfaces.first { $0.wireName.matches(interface) }
    }

    static func check(_ method: String, _ signature: String, _ call: MethodCall) throws(BusError) {
        guard call.message.hasSignature(signature) else { throw wrongTypes(method, signature, call) }
    }

    fileprivate static func wrongTypes(_ method: String, _ signature: String, _ call: MethodCall) -> BusError {
        BusError(.invalidArguments, "\(method) takes '\(signature)', not '\(call.message.signature)'")
    }
}

extension CallTable.Methods {
    /// Throws the error that a call gets for any object: unknown method or wrong arguments.
    @BusActor
    func check(_ call: MethodCall, _ member: UnsafePointer<CChar>) throws(BusError) {
        _ = try index(of: call, member)
    }

    /// - Parameter object: the address of an object of the kind that the table is for.
    @BusActor
    func dispatch(
        _ call: MethodCall,
        _ member: UnsafePointer<CChar>,
        on object: UnsafeRawPointer
    ) throws(BusError) -> Dispatch {
        let index = try index(of: call, member)
        let dispatch = try entries[index].body(object, call)
        if entries[index].takesList, case .answered = dispatch { call.noteSize() }
        return dispatch
    }

    @BusActor
    @inline(__always)
    private func index(of call: MethodCall, _ member: UnsafePointer<CChar>) throws(BusError) -> Int {
        // A linear search: for a handful of methods it is faster than hashing the name.
        for index in entries.indices where entries[index].wireName.matches(member) {
            if let signature = entries[index].inputSignature, !call.message.hasSignature(signature) {
                throw CallTable.wrongTypes(entries[index].name, entries[index].inputTypes, call)
            }
            return index
        }
        throw BusError(.unknownMethod, "\(interface) has no method \(call.member)")
    }
}

extension CallTable.Entry {
    fileprivate init<Object>(_ method: Method<Object>) {
        name = method.name
        wireName = WireName(method.name)
        inputSignature = method.takesOtherTypes ? nil : WireName(method.inputSignature)
        inputTypes = method.inputSignature
        takesList = method.inputSignature.hasPrefix("a")
        body = { [body = method.body] (object, call) throws(BusError) in
            try body(object.assumingMemoryBound(to: Object.self).pointee, call)
        }
    }
}

/// A name or signature, compared with one in a message without copying it.
package struct WireName: Hashable, Sendable {
    private let text: [CChar]

    package init(_ name: String) {
        text = Array(name.utf8CString)
    }

    package func matches(_ name: UnsafePointer<CChar>) -> Bool {
        text.withUnsafeBufferPointer { text in
            text.baseAddress.map { start in strcmp(start, name) == 0 } ?? false
        }
    }
}
