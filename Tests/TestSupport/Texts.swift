package import KeychaindLanguage

/// Texts of tests, which nobody translates.
extension Text: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) {
        self.init(verbatim: text)
    }

    package init(stringInterpolation: DefaultStringInterpolation) {
        self.init(verbatim: String(stringInterpolation: stringInterpolation))
    }
}
