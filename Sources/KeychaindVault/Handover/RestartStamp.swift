package import KeychaindGcrypt

/// A restart of the service: its moment, the boot, the service manager, the unit and the job.
///
/// Stands before the keys that wait for the next process: length of the boot ID (1), boot ID, time (8), process of the
/// manager (4), start of that process (8), number of the job (4), length of the unit (2), unit, session (1).
package struct RestartStamp: Equatable, Sendable {
    /// The kernel's ID of the boot; empty if unknown, which no start follows.
    package var bootID: String

    /// Seconds since the boot, including sleep.
    package var time: UInt64

    /// The process of the service manager.
    package var manager: Int32

    /// The start of that process in clock ticks since the boot, which tells it from a later one with its number.
    package var managerStart: UInt64

    /// The manager's number of the job, which first stops the unit and then starts it.
    ///
    /// A start after a stop that has taken the place of the restart is another job.
    package var job: UInt32

    /// The object path of the unit.
    package var unit: String

    /// Whether the user has a login session, whose end during the restart would otherwise be missed.
    package var hasSession = false

    /// The longest time between the end of one process and the start of the next, in seconds.
    package static let longestTime: UInt64 = 20

    package init(bootID: String, time: UInt64, manager: Int32, managerStart: UInt64, job: UInt32, unit: String) {
        self.bootID = bootID
        self.time = time
        self.manager = manager
        self.managerStart = managerStart
        self.job = job
        self.unit = unit
    }

    /// Whether a start belongs to this restart: the same job for the unit, by the same manager, in the same boot, soon.
    package func isFollowed(by start: RestartStamp) -> Bool {
        guard !bootID.isEmpty, start.time >= time, start.time - time <= RestartStamp.longestTime else { return false }
        var same = start
        same.time = time
        same.hasSession = hasSession
        return same == self
    }

    /// Returns the keys with this stamp before them, in locked memory.
    package func stamped(_ keys: borrowing SecureBytes) throws(GcryptError) -> SecureBytes {
        let stamp = encoded
        var stamped = try SecureBytes(count: stamp.count + keys.count, in: .locked)
        stamped.withUnsafeMutableBytes { bytes in
            bytes.copyBytes(from: stamp)
            keys.withUnsafeBytes { keys in
                UnsafeMutableRawBufferPointer(rebasing: bytes[stamp.count...]).copyMemory(from: keys)
            }
        }
        return stamped
    }

    /// Removes the stamp before the keys and returns it; nil, without a change, if there is none.
    package static func take(from stamped: inout SecureBytes) -> RestartStamp? {
        let stamp = stamped.withUnsafeBytes { bytes -> (RestartStamp, size: Int)? in
            var reader = FieldReader(bytes)
            guard let bootID = text(&reader, UInt8.self), let time = reader.integer(UInt64.self),
                let manager = reader.integer(Int32.self), let managerStart = reader.integer(UInt64.self),
                let job = reader.integer(UInt32.self), let unit = text(&reader, UInt16.self),
                let session = reader.integer(UInt8.self)
            else { return nil }
            var stamp = RestartStamp(
                bootID: bootID,
                time: time,
                manager: manager,
                managerStart: managerStart,
                job: job,
                unit: unit
            )
            stamp.hasSession = session != 0
            return (stamp, bytes.count - reader.remaining.count)
        }
        guard let (stamp, size) = stamp else { return nil }
        stamped.removeFirst(size)
        return stamp
    }

    private var encoded: [UInt8] {
        let bootID = bootID.utf8.prefix(Int(UInt8.max))
        let unit = unit.utf8.prefix(Int(UInt16.max))
        var bytes = [UInt8(bootID.count)] + bootID
        bytes.append(bigEndian: time)
        bytes.append(bigEndian: manager)
        bytes.append(bigEndian: managerStart)
        bytes.append(bigEndian: job)
        bytes.append(bigEndian: UInt16(unit.count))
        return bytes + unit + [hasSession ? 1 : 0]
    }

    private static func text<Length: FixedWidthInteger>(_ reader: inout FieldReader, _ length: Length.Type) -> String? {
        guard let length = reader.integer(length), let bytes = reader.bytes(Int(length)) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
