import Glibc
import KeychaindModel

extension Timestamp {
    /// The minute in the system's time zone, such as `2026-05-03 14:02`.
    var text: String {
        var time = time_t(microsecondsSinceEpoch / 1_000_000)
        var parts = tm()
        localtime_r(&time, &parts)
        func digits(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
        let day = [String(Int(parts.tm_year) + 1900), digits(parts.tm_mon + 1), digits(parts.tm_mday)]
        return "\(day.joined(separator: "-")) \(digits(parts.tm_hour)):\(digits(parts.tm_min))"
    }
}
