import CLinux
import Glibc

/// The resident memory of this process in KiB, what the allocator could give back aside.
func residentKiB() -> Int {
    malloc_trim(0)
    return number(after: "VmRSS:", in: "/proc/self/status")
}

/// The bytes that this process has sent to the disk so far.
func writtenBytes() -> Int {
    number(after: "write_bytes:", in: "/proc/self/io")
}

private func number(after name: String, in path: String) -> Int {
    guard let file = fopen(path, "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, CInt(line.count), file) != nil {
        let text = String(decoding: line.prefix { byte in byte != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard text.hasPrefix(name) else { continue }
        return Int(text.dropFirst(name.count).drop { $0.isWhitespace }.prefix { $0.isNumber }) ?? 0
    }
    return 0
}
