#if Keys
import SwiftASN1

/// The period of validity of a certificate (RFC 5280, section 4.1.2.5).
///
/// A keychain holds certificates with malformed dates, too: they have none.
struct CertificateValidity: Hashable, Sendable {
    /// The first second, in seconds since 1970.
    let start: Double?

    /// The last second.
    let end: Double?

    /// Throws ``errSecDecode`` if the node is not a period.
    init(_ node: ASN1Node) throws(StatusError) {
        let dates = try node.children(.sequence)
        guard dates.count == 2 else { throw StatusError(errSecDecode, "the certificate has no validity") }
        start = CertificateValidity.seconds(dates[0])
        end = CertificateValidity.seconds(dates[1])
    }

    private static func seconds(_ node: ASN1Node) -> Double? {
        if let time = try? UTCTime(derEncoded: node) {
            return seconds((time.year, time.month, time.day), (time.hours, time.minutes, time.seconds))
        }
        guard let time = try? GeneralizedTime(derEncoded: node) else { return nil }
        return seconds((time.year, time.month, time.day), (time.hours, time.minutes, time.seconds))
    }

    /// Converts a date and time in UTC.
    private static func seconds(
        _ date: (year: Int, month: Int, day: Int),
        _ time: (hours: Int, minutes: Int, seconds: Int)
    ) -> Double {
        // With years that begin in March, the leap day is the last of a year.
        let year = date.month > 2 ? date.year : date.year - 1
        let month = (date.month + 9) % 12
        let leapDays = year / 4 - year / 100 + year / 400
        let days = 365 * year + leapDays + (153 * month + 2) / 5 + date.day - 1
        // From the first of March of the year 0 to the beginning of 1970.
        let daysBefore1970 = 719_468
        return Double((days - daysBefore1970) * 86_400 + time.hours * 3600 + time.minutes * 60 + time.seconds)
    }
}
#endif
