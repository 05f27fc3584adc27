package import KeychaindModel

/// Times in rules: `2026-12-01T00:00:00Z`, or `2026-12-01` for its beginning in UTC.
package enum RuleTime {
    /// Parses a time of the years 1970 to 9999.
    package static func parse(_ text: String) -> Timestamp? {
        let bytes = Array(text.utf8)
        guard bytes.count == 10 || bytes.count == 20, let year = number(bytes, 0, 4), bytes[4] == dash,
            let month = number(bytes, 5, 2), bytes[7] == dash, let day = number(bytes, 8, 2), year >= 1970,
            (1...12).contains(month), (1...days(of: month, in: year)).contains(day)
        else { return nil }
        var seconds = daysSinceEpoch(year, month, day) * 86400
        if bytes.count == 20 {
            guard bytes[10] == UInt8(ascii: "T"), let hour = number(bytes, 11, 2), bytes[13] == colon,
                let minute = number(bytes, 14, 2), bytes[16] == colon, let second = number(bytes, 17, 2),
                bytes[19] == UInt8(ascii: "Z"), hour < 24, minute < 60, second < 60
            else { return nil }
            seconds += hour * 3600 + minute * 60 + second
        }
        return Timestamp(microsecondsSinceEpoch: Int64(seconds) * 1_000_000)
    }

    /// Writes a time to the second.
    package static func text(of time: Timestamp) -> String {
        let seconds = Int(time.seconds)
        var (year, day) = (1970, seconds / 86400)
        while day >= daysInYear(year) {
            day -= daysInYear(year)
            year += 1
        }
        var month = 1
        while day >= days(of: month, in: year) {
            day -= days(of: month, in: year)
            month += 1
        }
        let rest = seconds % 86400
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day + 1, 2))"
            + "T\(padded(rest / 3600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))Z"
    }

    private static let dash = UInt8(ascii: "-")
    private static let colon = UInt8(ascii: ":")

    private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int? {
        bytes[start..<start + count].reduce(Optional(0)) { value, byte in
            guard let value, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            return value * 10 + Int(byte - UInt8(ascii: "0"))
        }
    }

    private static func padded(_ number: Int, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && year % 100 != 0 || year % 400 == 0 }

    private static func daysInYear(_ year: Int) -> Int { isLeap(year) ? 366 : 365 }

    private static func days(of month: Int, in year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func daysSinceEpoch(_ year: Int, _ month: Int, _ day: Int) -> Int {
        (1970..<year).reduce(0) { $0 + daysInYear($1) } + (1..<month).reduce(0) { $0 + days(of: $1, in: year) } + day
            - 1
    }
}
