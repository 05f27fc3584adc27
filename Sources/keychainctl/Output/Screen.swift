import Glibc
import KeychaindLanguage

/// What standard output is: a terminal of some width, or something for programs.
enum Screen {
    case terminal(columns: Int, hasColours: Bool)
    case program

    static let current: Screen = {
        guard isatty(STDOUT_FILENO) == 1 else { return .program }
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        let isPlain = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false || variable("TERM") == "dumb"
        return .terminal(columns: isKnown ? Int(size.ws_col) : 80, hasColours: !isPlain)
    }()

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}

extension Text {
    /// A word in a table: on a terminal in the person's language, elsewhere in English, which scripts can rely on.
    var cell: String {
        if case .terminal = Screen.current { localized } else { english }
    }
}

extension String {
    /// The columns that the text takes on a terminal.
    var columns: Int {
        unicodeScalars.reduce(0) { sum, scalar in sum + scalar.columns }
    }

    /// The beginning that fits, with “…” if something is left out.
    func fitting(_ limit: Int) -> String {
        guard columns > limit else { return self }
        guard limit > 0 else { return "" }
        var result = ""
        var used = 1
        for scalar in unicodeScalars {
            used += scalar.columns
            guard used <= limit else { break }
            result.unicodeScalars.append(scalar)
        }
        return result + "…"
    }

    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - columns))
    }
}

extension Unicode.Scalar {
    /// As terminals count: two for wide characters of East Asia and pictures, none for marks on another character.
    fileprivate var columns: Int {
        if value < 0x300 { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        let wide: [ClosedRange<UInt32>] = [
            0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f,
            0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1faff, 0x20000...0x3fffd,
        ]
        return wide.contains { range in range.contains(value) } ? 2 : 1
    }
}
