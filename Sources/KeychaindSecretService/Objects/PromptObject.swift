import KeychaindDBus

/// A prompt of the calling client (#115 – #127).
struct PromptObject {
    let prompt: Prompt

    /// Maximum bytes of a window ID; a longer one is ignored.
    private static let windowBytes = 256

    private static let windowID = Parameter("window_id", String.self)

    @BusActor static let kind = ObjectKind<PromptObject>([
        Interface(
            InterfaceName.prompt,
            methods: [
                // Emacs in a terminal has no window, and sends false.
                Method("Prompt", in: [windowID], takesOtherTypes: true) { (object, call) throws(BusError) in
                    let isText = call.message.hasSignature(windowID.signature)
                    let window = isText ? try call.arguments(String.self) : ""
                    guard object.prompt.isCreated else {
                        throw BusError(.alreadyExists, "the prompt has already been run")
                    }
                    // Replies first: clients expect `Completed` after the reply (#124).
                    call.reply()
                    object.prompt.run(windowID: window.utf8.count <= windowBytes ? window : "")
                },
                Method("Dismiss") { (object, call) throws(BusError) in
                    call.reply()
                    object.prompt.dismiss()
                },
            ],
            signals: [
                SignalDeclaration("Completed", [Parameter("dismissed", Bool.self), Parameter("result", Variant.self)])
            ]
        )
    ])
}
