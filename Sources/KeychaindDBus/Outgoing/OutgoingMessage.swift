import CKeychaindDBus
import CKeychaindLinux

/// A marshalled message; overwritten on deinit.
package final class OutgoingMessage {
    /// The name to which it is sent; nil for a broadcast.
    let receiver: String?
    private let header: WireBuffer
    private let body: WireBuffer
    private var account: UnsentAnswers?

    init(to receiver: String?, header: consuming WireBuffer, body: consuming WireBuffer) {
        self.receiver = receiver
        self.header = header
        self.body = body
    }

    /// - Parameter serial: used unless the message has one.
    init(copying message: Message, serial: UInt32) {
        if dbus_message_get_serial(message.pointer) == 0 {
            dbus_message_set_serial(message.pointer, serial)
        }
        receiver = String(optional: dbus_message_get_destination(message.pointer))
        var start: UnsafeMutablePointer<CChar>?
        var size: Int32 = 0
        guard dbus_message_marshal(message.pointer, &start, &size) != 0, let start else {
            preconditionFailure("out of memory")
        }
        let marshalled = UnsafeRawBufferPointer(start: start, count: Int(size))
        var copy = WireBuffer(capacity: marshalled.count)
        copy.append(contentsOf: marshalled)
        explicit_bzero(start, marshalled.count)
        dbus_free(start)
        header = copy
        body = WireBuffer(capacity: 0)
    }

    deinit { account?.remove(size) }

    package var size: Int { header.count + body.count }

    /// Counts the message among the unsent ones of a program until it is sent or dropped.
    func count(in account: UnsentAnswers) {
        account.add(size)
        self.account = account
    }

    /// The bytes after the first `sent`, in two buffers, either of which may be empty; valid as long as this object.
    func rest(after sent: Int) -> (UnsafeRawBufferPointer, UnsafeRawBufferPointer) {
        let skipped = min(sent, header.count)
        return (
            UnsafeRawBufferPointer(rebasing: header.bytes[skipped...]),
            UnsafeRawBufferPointer(rebasing: body.bytes[(sent - skipped)...])
        )
    }
}

/// A growing buffer in wire format; released memory is overwritten, as messages may hold secrets.
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

    /// Appends a number or a boolean in native byte order, aligned to its size.
    @inline(__always)
    mutating func append<Value: BitwiseCopyable>(_ value: Value) {
        align(to: MemoryLayout<Value>.size)
        reserve(MemoryLayout<Value>.size)
        (base + count).storeBytes(of: value, as: Value.self)
        count += MemoryLayout<Value>.size
    }

    mutating func append(contentsOf source: UnsafeRawBufferPointer) {
        guard let start = source.baseAddress else { return }
        reserve(source.count)
        (base + count).copyMemory(from: start, byteCount: source.count)
        count += source.count
    }

    /// Appends a string or an object path: its length, the text and a NUL.
    mutating func append(text: UnsafeRawBufferPointer) {
        append(UInt32(truncatingIfNeeded: text.count))
        append(contentsOf: text)
        append(UInt8(0))
    }

    mutating func append(text: String) {
        var text = text
        text.withUTF8 { append(text: UnsafeRawBufferPointer($0)) }
    }

    /// Appends zeros up to a multiple of the boundary, a power of two of at most eight.
    @inline(__always)
    mutating func align(to boundary: Int) {
        let padding = -count & (boundary - 1)
        guard padding > 0 else { return }
        reserve(padding)
        // At most seven: the loop is cheaper than a call.
        for offset in 0..<padding { (base + count).storeBytes(of: 0, toByteOffset: offset, as: UInt8.self) }
        count += padding
    }

    mutating func replace<Value: BitwiseCopyable>(at offset: Int, with value: Value) {
        base.storeBytes(of: value, toByteOffset: offset, as: Value.self)
    }

    mutating func clear(_ range: Range<Int>) {
        memset(base + range.lowerBound, 0, range.count)
    }

    /// Moves bytes towards the start.
    mutating func move(_ range: Range<Int>, to offset: Int) {
        memmove(base + offset, base + range.lowerBound, range.count)
    }

    /// Removes the end, and overwrites it.
    mutating func truncate(to newCount: Int) {
        explicit_bzero(base + newCount, count - newCount)
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
