import Glibc
import KeychaindDBus

/// The arguments of `PromptReady`, with which the prompter calls back.
struct GCRReady {
    /// `yes` or `no`; empty before the first question.
    let reply: String

    /// Nil if the text is not one of the key exchange.
    let exchange: GCRExchangeMessage?

    /// The state of the checkbox; nil if the person has not touched it.
    let isChosen: Bool?

    /// Throws `InvalidArgs` for arguments of other types.
    init(from message: Message) throws(BusError) {
        var reader = message.makeReader()
        reply = try String(from: &reader)
        let changes = try [String: Variant](from: &reader)
        exchange = try reader.withString { text in
            GCRExchangeMessage(parsing: UnsafeRawBufferPointer(start: text, count: strlen(text)))
        }
        // GCR wraps each value twice.
        switch changes["choice-chosen"] {
        case .boolean(let isChosen), .variant(.boolean(let isChosen)): self.isChosen = isChosen
        default: isChosen = nil
        }
    }
}
