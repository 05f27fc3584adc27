/// The methods of the objects of a kind, by interface and name.
///
/// It knows nothing of the type of the objects: code that is compiled for any type spends, in every call, more time on finding out
/// about this one than on the call. So an object is handed on by its address.
struct CallTable {
    fileprivate typealias Body = @BusActor (UnsafeRawPointer, MethodCall) throws(BusError) -> Dispatch

    /// The methods of one interface.
    struct Methods {
        fileprivate let interface: String
        fileprivate let wireName: WireName
        fileprivate let entries: [Entry]
    }

    fileprivate struct Entry {
        let name: String
        let wireName: WireName
        let inputSignature: String
        /// Whether the first argument is a list, which a caller may make as long as a message may be.
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

    /// The methods of an interface; nil if there is none of that name.
    func methods(of interface: UnsafePointer<CChar>) -> Methods? {
        interfaces.first { $0.wireName.matches(interface) }
    }

    /// Throws unless the arguments of a call are those that the method takes.
    static func check(_ method: String, _ signature: String, _ call: MethodCall) throws(BusError) {
        guard call.message.hasSignature(signature) else {
            throw BusError(.invalidArguments, "\(method) takes '\(signature)', not '\(call.message.signature)'")
        }
    }
}

extension CallTable.Methods {
    /// Throws what a call is told whatever the object: that there is no such method, or that it takes other arguments.
    @BusActor
    func check(_ call: MethodCall, _ member: UnsafePointer<CChar>) throws(BusError) {
        _ = try index(of: call, member)
    }

    /// Has an object answer a call.
    ///
    /// - Parameter object: the address of an object of the kind that the table was made for.
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

    /// Finds the method of a call, and checks the arguments.
    @BusActor
    @inline(__always)
    private func index(of call: MethodCall, _ member: UnsafePointer<CChar>) throws(BusError) -> Int {
        // A handful, looked through sooner than a name is hashed.
        for index in entries.indices where entries[index].wireName.matches(member) {
            try CallTable.check(entries[index].name, entries[index].inputSignature, call)
            return index
        }
        throw BusError(.unknownMethod, "\(interface) has no method \(call.member)")
    }
}

extension CallTable.Entry {
    fileprivate init<Object>(_ method: Method<Object>) {
        name = method.name
        wireName = WireName(method.name)
        inputSignature = method.inputSignature
        takesList = inputSignature.hasPrefix("a")
        body = { [body = method.body] (object, call) throws(BusError) in
            try body(object.assumingMemoryBound(to: Object.self).pointee, call)
        }
    }
}
