import DBus

/// A caller's own session (#36 – #38).
struct SessionObject {
    let provider: Provider
    let session: Session

    @BusActor static let kind = ObjectKind<SessionObject>([
        Interface(
            InterfaceName.session,
            methods: [
                Method("Close") { (object, call) throws(BusError) in
                    object.provider.sessions.remove(object.session)
                    call.reply()
                }
            ]
        )
    ])
}
