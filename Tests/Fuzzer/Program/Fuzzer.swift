import Glibc

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

/// The reader that `FUZZ` names.
private let chosen = getenv("FUZZ").flatMap { name in FuzzReader.named(String(cString: name)) }

/// A program of libFuzzer, started by `scripts/fuzz`; without `FUZZ`, it prints the names of the readers.
@main
enum Fuzzer {
    static func main() {
        guard chosen != nil else {
            for reader in FuzzReader.all { print(reader.name) }
            return
        }
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(runDriver(&count, &arguments) { testOneInput($0, $1) })
    }
}

private func testOneInput(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    try? chosen?.read(UnsafeRawBufferPointer(start: data, count: count))
    EdgeCounters.update()
    return 0
}
