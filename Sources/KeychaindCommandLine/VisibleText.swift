extension String {
    /// The text with characters that could act on a terminal, or change how a line reads, as `\u{…}`.
    ///
    /// Names come from other programs: control characters, line and paragraph separators, and the format characters
    /// that change the direction of text or have no width are escaped; so is the backslash.
    package var visible: String {
        // Almost all names; the categories of Unicode cost much more.
        if utf8.allSatisfy({ (0x20..<0x7f).contains($0) && $0 != UInt8(ascii: "\\") }) { return self }
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
