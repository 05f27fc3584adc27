/// Objects that one peer may call.
extension Connection {
    /// Puts an object at a path, for one peer, until ``withdraw(_:)``: something that a service of another program calls back.
    ///
    /// To everybody else there is at this path what ``server`` finds there: the object cannot be told from one that does not exist.
    /// Otherwise any program of the session could answer a question in the service's place.
    /// An object that was exported at the path before is replaced.
    ///
    /// - Parameters:
    ///   - peer: the unique name of the one connection that may call it.
    ///   - limit: how many of its calls may wait at a time.
    ///   - takesDescriptors: whether its calls may have descriptors among their arguments.
    package func export(
        _ target: any ObjectTarget,
        at path: ObjectPath,
        to peer: String,
        limit: Int = 16,
        takesDescriptors: Bool = false
    ) {
        let server = ObjectServer(on: self, limit: limit, takesDescriptors: takesDescriptors) { _ in target }
        exports[path.rawValue] = Export(peer: peer, server: server)
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
