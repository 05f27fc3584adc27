import Glibc

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
        let inputSignature: String?
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
        guard call.message.hasSignature(signature) else {
            throw BusError(.invalidArguments, "\(method) takes '\(signature)', not '\(call.message.signature)'")
        }
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
            if let signature = entries[index].inputSignature {
                try CallTable.check(entries[index].name, signature, call)
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
        inputSignature = method.takesOtherTypes ? nil : method.inputSignature
        takesList = method.inputSignature.hasPrefix("a")
        body = { [body = method.body] (object, call) throws(BusError) in
            try body(object.assumingMemoryBound(to: Object.self).pointee, call)
        }
    }
}

/// The name of an interface or method, compared with a name in a message without copying it.
struct WireName: Hashable {
    private let text: [CChar]

    init(_ name: String) {
        text = Array(name.utf8CString)
    }

    func matches(_ name: UnsafePointer<CChar>) -> Bool {
        text.withUnsafeBufferPointer { text in
            text.baseAddress.map { start in strcmp(start, name) == 0 } ?? false
        }
    }
}
