import DBus
import Glibc

/// The interface that the prompter calls back, `org.gnome.keyring.internal.Prompter.Callback`.
enum GCRCallback {
    /// Serves a channel's events.
    @BusActor static let kind = ObjectKind<GCRChannel>([
        Interface(
            "org.gnome.keyring.internal.Prompter.Callback",
            methods: [
                Method(
                    "PromptReady",
                    in: [
                        Parameter("reply", String.self),
                        Parameter("properties", [String: Variant].self),
                        Parameter("exchange", String.self),
                    ],
                    receiveReady
                ),
                Method("PromptDone") { channel, call in
                    call.reply()
                    channel.receiveDone()
                },
            ]
        )
    ])

    private static let receiveReady: Method<GCRChannel>.ImmediateBody = { (channel, call) throws(BusError) in
        var reader = call.message.makeReader()
        let reply = try String(from: &reader)
        // How the dialog was left, such as a box that was ticked: no dialog here has such a thing.
        reader.skip()
        let exchange = try reader.withString { text in
            GCRExchangeMessage(parsing: UnsafeRawBufferPointer(start: text, count: strlen(text)))
        }
        call.message.wipeStrings()
        // The prompter takes no question before it has this answer.
        call.reply()
        channel.receiveReady(reply: reply, exchange: exchange)
    }
}
