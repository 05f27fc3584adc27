import CKeychaindLinux
import Glibc
import KeychaindGcrypt
import KeychaindLog
import Synchronization

/// What a log costs. `KeychaindLogBenchmark FOLDER [all | commits COUNT | load COUNT]`
@main
enum LogBenchmark {
    static let key = LogKey(sealingKey(1))
    static let secretKey = sealingKey(2)
    static let uuid = [UInt8](0..<16)

    static func main() throws {
        let folder = CommandLine.arguments.dropFirst().first ?? "."
        let what = CommandLine.arguments.dropFirst(2).first ?? "all"
        let count = CommandLine.arguments.dropFirst(3).first.flatMap(Int.init) ?? 10_000
        switch what {
        case "commits": try commits(count, in: folder)
        case "load": try load("\(folder)/log-\(count)")
        default: try all(in: folder)
        }
    }

    /// A change of 400 bytes: five tags, a label with attributes, a secret of 100 bytes.
    static func change(_ number: Int) throws -> RecordChange {
        let content = RecordContent(
            open: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 40),
            metadata: [UInt8](repeating: 2, count: 232),
            secret: try [UInt8](repeating: 3, count: 100).withUnsafeBytes { secret in
                try uuid.withUnsafeBytes { data in try secretKey.seal(secret, associatedData: data) }
            }
        )
        return RecordChange(RecordID(kind: 2, number: UInt64(number))!, content)
    }

    static func make(_ count: Int, at path: String, _ system: LogSystem = LogSystem()) throws -> RecordLog {
        unlink(path)
        let log = try RecordLog.create(path, application: 1, uuid: uuid, [], key, system: system)
        for start in stride(from: 0, to: count, by: 500) {
            try log.commit((start..<min(start + 500, count)).map { number in try change(number) }, key)
        }
        return log
    }

    /// Commits without syncs, for a count of instructions.
    static func commits(_ count: Int, in folder: String) throws {
        var system = LogSystem()
        system.synchronize = { _ in 0 }
        let log = try make(0, at: "\(folder)/log-commits", system)
        let start = busy()
        for number in 0..<count { try log.commit([change(number % 1000)], key) }
        print("\((busy() - start) / count) ns a commit, without syncs")
    }

    static func load(_ path: String) throws {
        let start = busy()
        let log = try RecordLog(path, application: 1)
        let scanned = busy()
        var bytes = 0
        let damages = try log.forEach(in: log.state, key, checksSecrets: false) { record in
            bytes += record.open.count + (record.metadata?.count ?? 0)
        }
        let opened = busy()
        print(
            "load \(log.count): places \(ms(scanned - start)), records \(ms(opened - scanned)) ms,",
            "\(damages.count) damaged, \(bytes >> 10) KiB, peak \(peakMemory()) KiB"
        )
    }

    static func all(in folder: String) throws {
        let written = Mutex((bytes: 0, syncs: 0))
        let real = LogSystem()
        var system = real
        system.write = { file, bytes, count, offset in
            written.withLock { written in written.bytes += count }
            return real.write(file, bytes, count, offset)
        }
        system.synchronize = { file in
            written.withLock { written in written.syncs += 1 }
            return real.synchronize(file)
        }
        let log = try make(10_000, at: "\(folder)/log-10000", system)
        let bare = open("\(folder)/bare", O_RDWR | O_CREAT | O_TRUNC, 0o600)
        let page = [UInt8](repeating: 7, count: 4096)
        for index in 0..<1024 { pwrite(bare, page, page.count, off_t(index * 4096)) }
        fdatasync(bare)
        written.withLock { written in written = (0, 0) }
        let blocks = blocksWritten()
        var (commitTimes, bareTimes): ([Int], [Int]) = ([], [])
        for number in 0..<1000 {
            let start = now()
            try log.commit([change(10_000 + number)], key)
            let middle = now()
            pwrite(bare, page, page.count, off_t(number * 4096))
            fdatasync(bare)
            commitTimes.append(middle - start)
            bareTimes.append(now() - middle)
        }
        let total = written.withLock { written in written }
        let ratios = zip(commitTimes, bareTimes).map { commit, bare in commit * 1000 / bare }.sorted()
        print("commit, median: \(commitTimes.sorted()[500] / 1000) µs; bare: \(bareTimes.sorted()[500] / 1000) µs")
        print(
            "ratio of medians: \(commitTimes.sorted()[500] * 100 / bareTimes.sorted()[500]) %,",
            "median of ratios: \(ratios[500] / 10) %"
        )
        print(
            "written: \(total.bytes / 1000) bytes, \(Double(total.syncs) / 1000) syncs a commit;",
            "blocks of both: \((blocksWritten() - blocks) / 1000) bytes"
        )
        try compact(log, "10,000")
        let large = try make(100_000, at: "\(folder)/log-100000")
        try compact(large, "100,000")
    }

    static func compact(_ log: RecordLog, _ name: String) throws {
        let (start, work) = (now(), busy())
        try log.rewrite(Rewriting(), key)
        print("compaction of \(name): \(ms(busy() - work)) ms of processor, \(ms(now() - start)) ms in all")
    }

    static func sealingKey(_ byte: UInt8) -> SealingKey {
        do {
            return try SealingKey(SecureBytes(copying: [UInt8](repeating: byte, count: 32)))
        } catch {
            fatalError("\(error)")
        }
    }

    /// The processor's time of this process, which other programs do not lengthen.
    static func busy() -> Int { time(CLOCK_PROCESS_CPUTIME_ID) }
    static func now() -> Int { time(CLOCK_MONOTONIC) }

    private static func time(_ clock: clockid_t) -> Int {
        var time = timespec()
        clock_gettime(clock, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    static func ms(_ nanoseconds: Int) -> Double { Double(nanoseconds / 10_000) / 100 }

    static func peakMemory() -> Int {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        return usage.ru_maxrss
    }

    /// The bytes that the process has made the kernel write.
    static func blocksWritten() -> Int {
        var text = [CChar](repeating: 0, count: 1024)
        let file = open("/proc/self/io", O_RDONLY)
        defer { close(file) }
        read(file, &text, 1023)
        let line = String(decoding: text.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: "\n").first
        { $0.hasPrefix("write_bytes") }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
    }
}
