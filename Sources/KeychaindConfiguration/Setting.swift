/// A setting with the value that is in force.
package struct Setting: Hashable, Sendable {
    package enum Value: Hashable, Sendable {
        case flag(Bool)
        case number(Int64)
        case text(String)
        case texts([String])
    }

    /// The name with its tables, as in TOML, such as `keychain."My keys".lock.on-sleep`.
    package let name: String

    package let value: Value

    /// Whether a change takes effect only at the next start.
    package let isReadAtStart: Bool

    init(_ keys: [String], _ value: Value, isReadAtStart: Bool = false) {
        name = keys.map(Setting.key).joined(separator: ".")
        self.value = value
        self.isReadAtStart = isReadAtStart
    }

    /// A name as TOML writes it.
    fileprivate static func key(_ name: String) -> String {
        let isBare =
            !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
        return isBare ? name : string(name)
    }

    /// A basic string, with escapes for what a terminal could act on.
    fileprivate static func string(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                let digits = String(scalar.value, radix: 16)
                result += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
            default:
                if scalar == "\"" || scalar == "\\" { result += "\\" }
                result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension Setting: CustomStringConvertible {
    /// The setting as a line of TOML.
    package var description: String { "\(name) = \(value)" }
}

extension Setting.Value: CustomStringConvertible {
    package var description: String {
        switch self {
        case .flag(let flag): "\(flag)"
        case .number(let number): "\(number)"
        case .text(let text): Setting.string(text)
        case .texts(let texts): "[\(texts.map(Setting.string).joined(separator: ", "))]"
        }
    }
}

extension Configuration {
    /// All settings with the values in force: those of all keychains, then those of keychains with rules of their own.
    package var settings: [Setting] {
        Configuration.settings(of: lock, in: ["lock"])
            + keychains.sorted().flatMap { name in
                Configuration.settings(of: lockRules(of: name), in: ["keychain", name, "lock"])
            }
            + [
                Setting(["access", "ask-at-read"], .texts(access.askAtRead)),
                Setting(["host", "unlock-at-start"], .flag(host.unlocksAtStart), isReadAtStart: true),
                Setting(["host", "tpm"], .text(host.tpm), isReadAtStart: true),
                Setting(["security-key", "folder"], .text(securityKeyFolder), isReadAtStart: true),
            ]
    }

    private static func settings(of rules: LockRules, in table: [String]) -> [Setting] {
        let minutes = (rules.afterIdle?.components.seconds ?? 0) / 60
        return [
            Setting(table + ["on-screen-lock"], .flag(rules.onScreenLock)),
            Setting(table + ["on-sleep"], .flag(rules.onSleep)),
            Setting(table + ["on-session-end"], .flag(rules.onSessionEnd)),
            Setting(table + ["idle-minutes"], .number(minutes)),
        ]
    }
}
