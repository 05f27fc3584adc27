extension Duration {
    /// A time in a dialog's words, rounded up: "one second", "90 seconds", "5 minutes".
    package var words: String {
        let (whole, rest) = components
        let seconds = whole + (rest > 0 ? 1 : 0)
        if seconds <= 90 { return seconds == 1 ? "one second" : "\(seconds) seconds" }
        return "\((seconds + 59) / 60) minutes"
    }
}
