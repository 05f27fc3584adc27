import CLinux

/// Bytes as they travel, in memory that is overwritten when it is given back: what is sent may hold a secret.
struct WireBuffer: ~Copyable {
    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(byteCount: capacity, alignment: WireBuffer.alignment)
    }

    deinit {
        WireBuffer.release(base, count)
    }

    private static let alignment = 8

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// Appends a number or a boolean, in this machine's byte order, at a multiple of its size.
    @inline(__always)
    mutating func append<Value: BitwiseCopyable>(_ value: Value) {
        align(to: MemoryLayout<Value>.size)
        reserve(MemoryLayout<Value>.size)
        (base + count).storeBytes(of: value, as: Value.self)
        count += MemoryLayout<Value>.size
    }

    /// Appends bytes as they are.
    mutating func append(contentsOf source: UnsafeRawBufferPointer) {
        guard let start = source.baseAddress else { return }
        reserve(source.count)
        (base + count).copyMemory(from: start, byteCount: source.count)
        count += source.count
    }

    /// Appends a string or an object path: its length, the text, and a NUL.
    mutating func append(text: UnsafeRawBufferPointer) {
        append(UInt32(truncatingIfNeeded: text.count))
        append(contentsOf: text)
        append(UInt8(0))
    }

    /// Appends a string or an object path.
    mutating func append(text: String) {
        var text = text
        text.withUTF8 { append(text: UnsafeRawBufferPointer($0)) }
    }

    /// Appends zeros up to a multiple of a power of two, eight at most.
    @inline(__always)
    mutating func align(to boundary: Int) {
        let padding = -count & (boundary - 1)
        guard padding > 0 else { return }
        reserve(padding)
        // Seven at most: a call would cost more than the loop.
        for offset in 0..<padding { (base + count).storeBytes(of: 0, toByteOffset: offset, as: UInt8.self) }
        count += padding
    }

    /// Puts a number where another was appended before.
    mutating func replace<Value: BitwiseCopyable>(at offset: Int, with value: Value) {
        base.storeBytes(of: value, toByteOffset: offset, as: Value.self)
    }

    /// Drops the last bytes.
    mutating func truncate(to newCount: Int) {
        count = newCount
    }

    @inline(__always)
    private mutating func reserve(_ size: Int) {
        if capacity - count < size { grow(by: size) }
    }

    private mutating func grow(by size: Int) {
        capacity = max(2 * capacity, count + size)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: WireBuffer.alignment)
        larger.copyMemory(from: base, byteCount: count)
        WireBuffer.release(base, count)
        base = larger
    }

    private static func release(_ base: UnsafeMutableRawPointer, _ count: Int) {
        explicit_bzero(base, count)
        base.deallocate()
    }
}
