/// Makes what a process says about itself fit to be shown.
enum CallerText {
    /// A path on one line; of a long one the middle is left out, for the end says most.
    static func path(_ text: String) -> String {
        let scalars = text.unicodeScalars
        let limit = PromptText.nameLimit
        guard scalars.count > limit else { return PromptText.name(text) }
        let start = String(scalars.prefix(limit / 4))
        let end = String(scalars.suffix(limit - limit / 4 - 1))
        return PromptText.name(start) + "…" + PromptText.name(end)
    }
}
