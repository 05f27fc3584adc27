import CKeychaindLinux
import Glibc
import KeychaindModel

/// The name of a generation: `NAME.NUMBER-YYYYMMDDTHHMMSSZ.keychain`.
struct GenerationName: Comparable {
    let file: String

    /// The place in the order.
    let number: UInt64

    /// The time when it was made, by the clock of then, in seconds since the epoch.
    let seconds: Int64

    /// The name of the next generation.
    init(after last: GenerationName?, at seconds: Int64, of name: CollectionName) {
        let number = last.map { last in last.number == .max ? last.number : last.number + 1 } ?? 1
        self.number = number
        self.seconds = seconds
        let digits = String(number)
        let padding = String(repeating: "0", count: max(0, Self.digits - digits.utf8.count))
        file = "\(name.encoded).\(padding)\(digits)-\(Self.stamp(seconds))\(CollectionFormat.suffix)"
    }

    /// Nil when the file is no generation of the collection.
    init?(_ file: String, of name: CollectionName) {
        let prefix = name.encoded + "."
        guard file.hasPrefix(prefix), file.hasSuffix(CollectionFormat.suffix) else { return nil }
        let middle = file.dropFirst(prefix.utf8.count).dropLast(CollectionFormat.suffix.utf8.count)
        let parts = middle.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let seconds = Self.seconds(Array(parts[1].utf8)),
            parts[0].utf8.allSatisfy(Self.isDigit), let number = UInt64(parts[0]), number > 0
        else { return nil }
        self.file = file
        self.number = number
        self.seconds = seconds
    }

    /// Whether it was made less than a day after another one, and not before it by the clock.
    func isSoon(after other: GenerationName) -> Bool {
        seconds >= other.seconds && seconds - other.seconds < Generations.interval
    }

    static func < (first: GenerationName, second: GenerationName) -> Bool {
        (first.number, first.seconds) < (second.number, second.seconds)
    }

    /// So that lists of files are in order, too.
    private static let digits = 6

    private static func stamp(_ seconds: Int64) -> String {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        let date = [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)]
        let clock = [Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec)]
        return date.map(twoDigits).joined() + "T" + clock.map(twoDigits).joined() + "Z"
    }

    private static func seconds(_ stamp: [UInt8]) -> Int64? {
        guard stamp.count == 16, stamp[8] == UInt8(ascii: "T"), stamp[15] == UInt8(ascii: "Z") else { return nil }
        func number(_ range: Range<Int>) -> CInt? { CInt(String(decoding: stamp[range], as: UTF8.self)) }
        guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8),
            let hour = number(9..<11), let minute = number(11..<13), let second = number(13..<15)
        else { return nil }
        var parts = tm()
        parts.tm_year = year - 1900
        parts.tm_mon = month - 1
        parts.tm_mday = day
        parts.tm_hour = hour
        parts.tm_min = minute
        parts.tm_sec = second
        return Int64(timegm(&parts))
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func twoDigits(_ number: Int) -> String {
        (number < 10 ? "0" : "") + String(number)
    }
}
