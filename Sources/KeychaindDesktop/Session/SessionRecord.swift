/// A session, by logind's file of it in `/run/systemd/sessions`.
///
/// No property on the bus names the controller. The files are those that libsystemd reads.
package struct SessionRecord: Hashable, Sendable {
    package enum Display: String, Hashable, Sendable {
        case wayland
        case x11
    }

    package let userID: UInt32
    package let display: Display
    /// The unique name, on the system bus, of the program that has the session's devices; nil if it has none from
    /// logind.
    package let controller: String?
    /// In microseconds since the boot.
    package let start: UInt64

    /// Reads the lines `NAME=VALUE`.
    ///
    /// Nil unless a person sees the session now: graphical, on a seat, in front. A controller may change the type of
    /// its session; what began as another display than it claims to be is none.
    package init?(_ content: [UInt8]) {
        var values: [String: String] = [:]
        for line in String(decoding: content, as: UTF8.self).split(separator: "\n") {
            let pair = line.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { values[String(pair[0])] = String(pair[1]) }
        }
        guard values["ACTIVE"] == "1", values["REMOTE"] != "1", values["STATE"] != "closing",
            values["SEAT"] != nil, values["CLASS"]?.hasPrefix("user") == true,
            let userID = values["UID"].flatMap(UInt32.init), let display = values["TYPE"].flatMap(Display.init)
        else { return nil }
        let origin = values["ORIGINAL_TYPE"] ?? display.rawValue
        guard origin == display.rawValue || origin == "tty" else { return nil }
        self.userID = userID
        self.display = display
        controller = values["CONTROLLER"]
        start = values["MONOTONIC"].flatMap(UInt64.init) ?? 0
    }
}
