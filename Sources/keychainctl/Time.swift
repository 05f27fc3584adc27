import Glibc
import KeychaindCommandLine
import KeychaindLanguage

/// Times for people, in the system's time zone, and times that they write.
enum Time {
    /// The minute, such as 2026-11-23 17:05; empty for 0.
    static func minute(_ seconds: UInt64) -> String { seconds == 0 ? "" : text(seconds, "%Y-%m-%d %H:%M") }

    static func second(_ seconds: UInt64) -> String { text(seconds, "%Y-%m-%d %H:%M:%S") }

    private static func text(_ seconds: UInt64, _ format: String) -> String {
        var time = time_t(clamping: seconds)
        var parts = tm()
        guard localtime_r(&time, &parts) != nil else { return Text("at an unknown time").localized }
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, format, &parts)
        return String(decoding: text[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Reads a duration before now, such as 90s, 30m, 2h or 7d, a day as 2026-11-23, or a minute after a space or a T.
    ///
    /// - Returns: seconds since 1970; nil for another text.
    static func parse(_ written: String, now: UInt64 = UInt64(clamping: time(nil))) -> UInt64? {
        let units: [Character: UInt64] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
        if let last = written.last, let unit = units[last], let number = UInt64(written.dropLast()) {
            let (duration, isTooLong) = number.multipliedReportingOverflow(by: unit)
            return isTooLong || duration > now ? 0 : now - duration
        }
        return calendar(written)
    }

    /// Reads a day, or a minute after a space or a T, in the system's time zone.
    private static func calendar(_ written: String) -> UInt64? {
        let halves = written.split(whereSeparator: { $0 == " " || $0 == "T" })
        guard halves.count <= 2, let day = halves.first.flatMap({ numbers($0, "-") }), day.count == 3 else {
            return nil
        }
        var minute: [Int32] = [0, 0]
        if halves.count == 2 {
            guard let given = numbers(halves[1], ":"), given.count == 2 else { return nil }
            minute = given
        }
        guard (1970...9999).contains(day[0]), (1...12).contains(day[1]), (1...31).contains(day[2]),
            (0...23).contains(minute[0]), (0...59).contains(minute[1])
        else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (day[0] - 1900, day[1] - 1, day[2])
        (parts.tm_hour, parts.tm_min, parts.tm_isdst) = (minute[0], minute[1], -1)
        let seconds = mktime(&parts)
        // The 30th of February becomes a day in March.
        guard seconds >= 0, parts.tm_mon == day[1] - 1, parts.tm_mday == day[2] else { return nil }
        return UInt64(seconds)
    }

    private static func numbers(_ text: Substring, _ separator: Character) -> [Int32]? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int32($0) }
        return numbers.count == parts.count ? numbers : nil
    }
}
