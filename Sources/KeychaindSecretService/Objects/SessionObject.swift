import KeychaindDBus

/// A session of the calling client (#36 – #38).
struct SessionObject {
    let session: Session
    let client: Client

    @BusActor static let kind = ObjectKind<SessionObject>([
        Interface(
            InterfaceName.session,
            methods: [
                Method("Close") { (object, call) throws(BusError) in
                    object.client.sessions.remove(object.session)
                    call.reply()
                }
            ]
        )
    ])
}
