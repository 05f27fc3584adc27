/// The systemd unit of a process, from its control group.
package struct SystemdUnit: Hashable, Sendable {
    /// The name, such as `app-gnome-firefox-4711.scope`, cleaned and cut.
    package let name: String

    /// The id of the desktop application, such as `firefox`.
    ///
    /// Nil unless the name has one of the forms of systemd's "Desktop Environment Integration":
    /// `app[-LAUNCHER]-ID-RANDOM.scope` and `app[-LAUNCHER]-ID[@RANDOM].service`, with the id escaped as in unit names.
    package let applicationID: String?

    /// Whether the user's service manager started it for one program: neither a login session nor the user's bus, whose
    /// unit has many programs.
    package let isOneProgram: Bool

    /// Parses a unit name; nil unless it is a service or scope.
    ///
    /// - Parameter isUsers: whether it is one of the user's service manager.
    package init?(name: some StringProtocol, isUsers: Bool = false) {
        let name = String(name)
        guard name.utf8.count <= SystemdUnit.longestName, name.hasSuffix(".service") || name.hasSuffix(".scope") else {
            return nil
        }
        self.name = PromptText.name(name)
        applicationID = SystemdUnit.applicationID(in: name).map(PromptText.name)
        isOneProgram = isUsers && !name.hasPrefix("user@") && !SystemdUnit.shared.contains(name)
    }

    /// Finds the innermost unit in `/proc/PID/cgroup`, with lines `NUMBER:CONTROLLERS:PATH`.
    ///
    /// Uses systemd's own hierarchy: number 0 without controllers, or `name=systemd` on older systems.
    package init?(controlGroups content: some Sequence<UInt8>) {
        for line in String(decoding: Array(content), as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, fields[0] == "0" && fields[1].isEmpty || fields[1] == "name=systemd" else {
                continue
            }
            let path = fields[2].split(separator: "/")
            let isUsers = path.dropLast().contains { $0.hasPrefix("user@") && $0.hasSuffix(".service") }
            for element in path.reversed() {
                // systemd puts a `_` before names that look like a kernel file.
                let name = element.hasPrefix("_") ? element.dropFirst() : element
                if let unit = SystemdUnit(name: name, isUsers: isUsers) {
                    self = unit
                    return
                }
            }
        }
        return nil
    }

    private static func applicationID(in name: String) -> String? {
        guard name.hasPrefix("app-") else { return nil }
        let parts: [Substring]
        if name.hasSuffix(".scope") {
            parts = name.dropFirst("app-".count).dropLast(".scope".count).split(separator: "-").dropLast()
        } else {
            let stem = name.dropFirst("app-".count).dropLast(".service".count).prefix { $0 != "@" }
            parts = stem.split(separator: "-")
        }
        guard (1...2).contains(parts.count), let id = parts.last else { return nil }
        return unescape(id)
    }

    /// Decodes systemd's `\xNN` escapes; nil if one is invalid.
    private static func unescape(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            guard rest.popFirst() == UInt8(ascii: "x"), let digits = String(rest.prefix(2)), digits.utf8.count == 2,
                let value = UInt8(digits, radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Units in which unrelated programs are: those that the bus starts itself.
    private static let shared: Set<String> = ["dbus.service", "dbus-broker.service", "init.scope"]

    private static let longestName = 255
}
