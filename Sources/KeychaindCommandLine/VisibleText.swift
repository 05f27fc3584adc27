extension StringProtocol {
    /// The text with characters that could act on a terminal, or change how a line reads, as `\u{…}`.
    ///
    /// Names come from other programs: control characters, line and paragraph separators, and the format characters
    /// that change the direction of text or have no width are escaped; so is the backslash.
    package var visible: String {
        var result = ""
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default:
                if scalar == "\\" { result += "\\\\" } else { result.unicodeScalars.append(scalar) }
            }
        }
        return result
    }
}
