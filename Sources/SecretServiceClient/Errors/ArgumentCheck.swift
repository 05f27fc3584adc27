/// What D-Bus cannot carry is found here rather than cut short or refused by libdbus, which ends the process.
enum ArgumentCheck {
    /// The most bytes that the texts of one call may have together.
    static let maximumBytes = 16 << 20

    /// Checks texts that go into one call.
    static func check(_ texts: some Sequence<String>) throws(SecretServiceError) {
        var count = 0
        for text in texts {
            count += text.utf8.count
            guard !text.utf8.contains(0) else {
                throw SecretServiceError(.invalidArguments, "a text holds a NUL, which D-Bus does not carry")
            }
        }
        guard count <= maximumBytes else {
            throw SecretServiceError(.limitExceeded, "texts of \(count) bytes")
        }
    }

    /// Checks a label, and attributes.
    static func check(_ label: String, _ attributes: [String: String] = [:]) throws(SecretServiceError) {
        try check([label])
        try check(attributes.lazy.flatMap { [$0.key, $0.value] })
    }
}
