import Authentication
import DBus

/// A request of the portal while a person is being asked, at the path that the portal has chosen for it.
@BusActor
final class PortalRequest {
    private let conversation: Conversation

    static let kind = ObjectKind<PortalRequest>(
        [
            Interface(
                InterfaceName.portalRequest,
                methods: [
                    Method("Close") { (request, call) throws(BusError) in
                        request.conversation.end()
                        call.reply()
                    }
                ]
            )
        ]
    )

    init(_ conversation: Conversation) {
        self.conversation = conversation
    }
}
