import KeychaindGcrypt

/// Reads records of comma-separated values (RFC 4180) one after the other, so that a file of any size needs the memory
/// of one record.
package struct CSVReader: ~Copyable {
    /// The most bytes of a record: more than any program writes into one.
    package static let maximumRecordBytes = 4 << 20
    static let maximumFields = 256

    private let descriptor: Int32
    private var chunk: SecureBuffer
    private var position = 0
    private var record: SecureBuffer
    private var ends: [Int] = []
    /// The number of the present record; the first is 1.
    private(set) var number = 0

    /// - Parameter start: bytes that were read from the descriptor already.
    package init(_ descriptor: Int32, startingWith start: UnsafeRawBufferPointer) throws(ForeignFileError) {
        var chunk = try SecureBuffer(capacity: 1 << 16)
        let record = try SecureBuffer(capacity: 1 << 12)
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        try chunk.append(start.starts(with: mark) ? UnsafeRawBufferPointer(rebasing: start[mark.count...]) : start)
        self.init(descriptor, chunk: chunk, record: record)
    }

    private init(_ descriptor: Int32, chunk: consuming SecureBuffer, record: consuming SecureBuffer) {
        self.descriptor = descriptor
        self.chunk = chunk
        self.record = record
    }

    var fieldCount: Int { ends.count }

    /// Calls a closure with the bytes of a field of the present record.
    func withField<Result: ~Copyable>(
        _ index: Int,
        _ body: (UnsafeRawBufferPointer) throws(ForeignFileError) -> Result
    ) throws(ForeignFileError) -> Result {
        let range = (index == 0 ? 0 : ends[index - 1])..<ends[index]
        return try record.withUnsafeBytes { (bytes) throws(ForeignFileError) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }

    /// Reads a field that is not secret.
    func text(_ index: Int) throws(ForeignFileError) -> String {
        try withField(index) { String(decoding: $0, as: UTF8.self) }
    }

    /// Goes to the next record that is not an empty line; false at the end.
    mutating func advance() throws(ForeignFileError) -> Bool {
        repeat {
            guard try readRecord() else { return false }
        } while ends == [0]
        return true
    }

    private mutating func readRecord() throws(ForeignFileError) -> Bool {
        record.removeAll()
        ends.removeAll(keepingCapacity: true)
        number += 1
        guard var byte = try next() else { return false }
        while true {
            if byte == UInt8(ascii: "\"") {
                try readQuoted()
                guard let following = try next() else { break }
                byte = following
            }
            while byte != UInt8(ascii: ","), byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") {
                try append(byte)
                guard let following = try next() else {
                    try endField()
                    return true
                }
                byte = following
            }
            if byte == UInt8(ascii: "\n") { break }
            if byte == UInt8(ascii: "\r") {
                if try peek() == UInt8(ascii: "\n") { position += 1 }
                break
            }
            try endField()
            guard let following = try next() else { break }
            byte = following
        }
        try endField()
        return true
    }

    /// Reads the rest of a quoted field, in which two quotes stand for one.
    private mutating func readQuoted() throws(ForeignFileError) {
        while true {
            guard let byte = try next() else {
                throw ForeignFileError(.damaged, "record \(number) of the file has no end: a quote is missing")
            }
            if byte == UInt8(ascii: "\"") {
                guard try peek() == UInt8(ascii: "\"") else { return }
                position += 1
            }
            try append(byte)
        }
    }

    private mutating func append(_ byte: UInt8) throws(ForeignFileError) {
        guard record.count < Self.maximumRecordBytes else {
            throw ForeignFileError(
                .tooLarge,
                "record \(number) of the file has more than \(Self.maximumRecordBytes >> 20) MiB"
            )
        }
        try record.append(byte)
    }

    private mutating func endField() throws(ForeignFileError) {
        guard ends.count < Self.maximumFields else {
            throw ForeignFileError(
                .tooLarge,
                "record \(number) of the file has more than \(Self.maximumFields) fields"
            )
        }
        ends.append(record.count)
    }

    private mutating func next() throws(ForeignFileError) -> UInt8? {
        guard let byte = try peek() else { return nil }
        position += 1
        return byte
    }

    private mutating func peek() throws(ForeignFileError) -> UInt8? {
        if position == chunk.count {
            position = 0
            guard try WholeFile.fill(&chunk, from: descriptor) else { return nil }
        }
        return chunk[position]
    }
}
