import Glibc

/// The counters of all edges of the program, in blocks that libFuzzer learns of when an input first reaches them.
///
/// It reads and clears all counters that it knows at each input; the program has 400,000, and a reader reaches few.
enum EdgeCounters {
    private static let blockSize = 512

    /// The inputs between two searches for blocks that were reached; the first ones are all searched.
    private static let interval = 64
    private static let firstInputs = 4096

    // `nonisolated(unsafe)`: the only thread that calls is that of libFuzzer, and before `main` the loader.
    nonisolated(unsafe) fileprivate static var counters: UnsafeMutablePointer<UInt8>?
    nonisolated(unsafe) fileprivate static var count = 0
    nonisolated(unsafe) fileprivate static var places: UnsafeMutablePointer<EdgePlace>?
    nonisolated(unsafe) private static var unknown: [Range<Int>] = []
    nonisolated(unsafe) private static var inputs = 0

    /// Looks for new blocks, after an input and before libFuzzer reads the counters.
    static func update() {
        guard let counters, let places else { return }
        if inputs == 0 {
            unknown = stride(from: 0, to: count, by: blockSize).map { $0..<min($0 + blockSize, count) }
        }
        inputs += 1
        guard inputs < firstInputs || inputs.isMultiple(of: interval) else { return }
        unknown.removeAll { block in
            let bytes = UnsafeRawBufferPointer(start: counters + block.lowerBound, count: block.count)
            guard !isZero(bytes) else { return false }
            addCounters(counters + block.lowerBound, counters + block.upperBound)
            addPlaces(places + block.lowerBound, places + block.upperBound)
            return true
        }
    }

    private static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes[0] == 0 && memcmp(bytes.baseAddress!, bytes.baseAddress! + 1, bytes.count - 1) == 0
    }
}

/// An address and flags, in the table that belongs to the counters.
struct EdgePlace {
    let address: UInt
    let flags: UInt
}

@_silgen_name("__real___sanitizer_cov_8bit_counters_init")
private func addCounters(_ start: UnsafeMutablePointer<UInt8>, _ end: UnsafeMutablePointer<UInt8>)

@_silgen_name("__real___sanitizer_cov_pcs_init")
private func addPlaces(_ start: UnsafeMutablePointer<EdgePlace>, _ end: UnsafeMutablePointer<EdgePlace>)

/// Called by the constructor of each object file, with the counters of the whole program; the linker wraps libFuzzer's.
@_cdecl("__wrap___sanitizer_cov_8bit_counters_init")
public func noteCounters(_ start: UnsafeMutablePointer<UInt8>, _ end: UnsafeMutablePointer<UInt8>) {
    EdgeCounters.counters = start
    EdgeCounters.count = end - start
}

/// Likewise, with the table of the edges.
@_cdecl("__wrap___sanitizer_cov_pcs_init")
public func notePlaces(_ start: UnsafeMutableRawPointer, _ end: UnsafeMutableRawPointer) {
    EdgeCounters.places = start.assumingMemoryBound(to: EdgePlace.self)
}
