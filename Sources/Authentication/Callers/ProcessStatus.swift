/// What `/proc/PID/stat` tells of a process (proc_pid_stat(5)).
struct ProcessStatus: Equatable {
    /// The name that the process gives itself.
    let commandName: String

    /// Field 5: its process group.
    let groupID: Int32

    /// Field 7: the number of the device of the terminal that it was started on; 0 if there is none.
    let terminal: UInt32

    /// Field 8: the process group in the foreground of that terminal.
    let foregroundGroupID: Int32

    /// Field 22: when it was started, in clock ticks since the machine was.
    let startTime: UInt64

    /// Reads `PID (NAME) STATE …`; a name may hold anything, also `)`, so that only the last one ends it.
    init?(_ content: [UInt8]) {
        guard let start = content.firstIndex(of: UInt8(ascii: "(")),
            let end = content.lastIndex(of: UInt8(ascii: ")")), start < end
        else { return nil }
        let fields = content[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard let groupID: Int32 = ProcessStatus.value(5, of: fields),
            let terminal: Int32 = ProcessStatus.value(7, of: fields),
            let foregroundGroupID: Int32 = ProcessStatus.value(8, of: fields),
            let startTime: UInt64 = ProcessStatus.value(22, of: fields)
        else { return nil }
        commandName = String(decoding: content[(start + 1)..<end], as: UTF8.self)
        self.groupID = groupID
        self.terminal = UInt32(bitPattern: terminal)
        self.foregroundGroupID = foregroundGroupID
        self.startTime = startTime
    }

    /// A field by its number in the manual; the first behind the name is the third.
    private static func value<Value: FixedWidthInteger>(_ number: Int, of fields: [ArraySlice<UInt8>]) -> Value? {
        guard fields.count > number - 3 else { return nil }
        return Value(String(decoding: fields[number - 3], as: UTF8.self))
    }

    /// More than the line can have.
    static let longest = 2048
}
