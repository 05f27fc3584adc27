import Glibc
import KeychaindLanguage

/// The languages in a caller's environment.
///
/// The process may have written anything there: it is used only to choose among the installed catalogues.
enum CallerLocale {
    /// In bytes; most environments have less than a tenth of that.
    private static let longest = 128 << 10

    /// Reads four variables of `/proc/PID/environ`, and overwrites the others: they may hold secrets.
    static func read(of folder: ProcessFolder) -> LocaleNames? {
        guard var environment = folder.read("environ", limit: longest) else { return nil }
        defer {
            environment.withUnsafeMutableBytes { bytes in
                if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
            }
        }
        return find(in: environment)
    }

    static func find(in environment: [UInt8]) -> LocaleNames {
        var values: [String: String] = [:]
        for variable in environment.split(separator: 0) {
            for name in LocaleNames.variables where values[name] == nil && variable.starts(with: Array("\(name)=".utf8))
            {
                values[name] = String(decoding: variable.dropFirst(name.utf8.count + 1), as: UTF8.self)
            }
        }
        return LocaleNames { values[$0] }
    }
}
