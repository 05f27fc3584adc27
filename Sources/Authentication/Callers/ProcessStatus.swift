/// What `/proc/PID/stat` tells of a process (proc_pid_stat(5)).
struct ProcessStatus: Equatable {
    /// The name that the process gives itself.
    let commandName: String

    /// Field 22: when it was started, in clock ticks since the machine was.
    let startTime: UInt64

    /// Reads `PID (NAME) STATE …`; a name may hold anything, also `)`, so that only the last one ends it.
    init?(_ content: [UInt8]) {
        guard let start = content.firstIndex(of: UInt8(ascii: "(")),
            let end = content.lastIndex(of: UInt8(ascii: ")")), start < end
        else { return nil }
        let fields = content[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > ProcessStatus.startTimeIndex,
            let startTime = UInt64(String(decoding: fields[ProcessStatus.startTimeIndex], as: UTF8.self))
        else { return nil }
        commandName = String(decoding: content[(start + 1)..<end], as: UTF8.self)
        self.startTime = startTime
    }

    /// Counted from the field behind the name, which is the third.
    private static let startTimeIndex = 22 - 3

    /// More than the line can have.
    static let longest = 2048
}
