/// Objects that one peer may call.
extension Connection {
    /// Puts an object at a path, for one peer, until ``withdraw(_:)``: something that a service of another program calls back.
    ///
    /// To everybody else there is at this path what ``server`` finds there: the object cannot be told from one that does not exist.
    /// Otherwise any program of the session could answer a question in the service's place.
    /// An object that was exported at the path before is replaced.
    ///
    /// - Parameters:
    ///   - peer: the one connection that may call it.
    ///   - takesDescriptors: whether its calls may have descriptors among their arguments.
    package func export(
        _ target: any ObjectTarget,
        at path: ObjectPath,
        to peer: any Peer,
        takesDescriptors: Bool = false
    ) {
        let server = ObjectServer(self, takesDescriptors: takesDescriptors) { _ in
            peer
        } dispatch: { (call) throws(BusError) in
            try target.dispatch(call)
        }
        exports[path.rawValue] = Export(peer: peer.name, server: server)
    }

    /// Does the same for a peer of which nothing else is kept.
    package func export(
        _ target: any ObjectTarget,
        at path: ObjectPath,
        to name: String,
        takesDescriptors: Bool = false
    ) {
        export(target, at: path, to: BasicPeer(name, WaitingCalls(limit: 16)), takesDescriptors: takesDescriptors)
    }

    /// Takes an exported object away.
    package func withdraw(_ path: ObjectPath) {
        exports[path.rawValue] = nil
    }

    func server(for message: Message) -> ObjectServer? {
        if !exports.isEmpty, let export = exports[message.path ?? ""], export.peer == message.sender {
            return export.server
        }
        return server
    }
}
