import Glibc

/// Reads a file from its start to its end, with a buffer of bounded size, and finds the next frame behind damage.
struct FrameReader: ~Copyable {
    enum Step {
        case frame(Frame, at: Int)

        /// Bytes that are no frame; a frame or the end follows.
        case bad(Range<Int>)

        /// There are only zeros from here.
        case end(at: Int)
    }

    private let file: LogFile, mark: Mark, maximumSize: Int
    private var offset = LogHeader.end
    private var lastSequence: UInt64 = 0, previousSequence: UInt64 = 0
    private var body = LogHeader.end..<LogHeader.end
    private var loaded = 0..<0
    private var buffer: UnsafeMutableRawBufferPointer
    private var plaintext: UnsafeMutableRawBufferPointer

    /// Whether `next` has returned the end.
    private(set) var isAtEnd = false

    /// A frame behind all others of which the file has only a part.
    private(set) var cut: (frame: Frame, place: Int)?

    /// - Parameter bytes: how many bytes are read at once.
    init(_ file: LogFile, _ header: LogHeader, _ limits: LogLimits, bytes: Int = 256 << 10) {
        (self.file, mark, maximumSize) = (file, header.mark, limits.frameSize)
        buffer = .allocate(byteCount: max(4096, min(bytes, file.size)), alignment: 16)
        plaintext = .allocate(byteCount: 4096, alignment: 16)
    }

    deinit {
        buffer.deallocate()
        plaintext.deallocate()
    }

    mutating func next() throws(LogError) -> Step {
        let start = offset
        if let frame = try frame(at: start), frame.sequence > lastSequence {
            offset += frame.size
            previousSequence = lastSequence
            (lastSequence, body, cut) = (frame.sequence, start + Frame.headerSize..<offset, nil)
            return .frame(frame, at: start)
        }
        // A length that lies, or a file that was cut and grew again, hides frames in the body of the last one.
        let (found, end) = try search(body.lowerBound..<max(body.lowerBound, file.size))
        offset = found ?? max(start, end)
        isAtEnd = offset == start
        return isAtEnd ? .end(at: start) : .bad((offset < start ? body.lowerBound : start)..<offset)
    }

    /// Looks for other frames in the last one, whose sequence then does not count.
    mutating func distrust(_ frame: Frame, at place: Int) {
        guard frame.sequence == lastSequence else { return }
        (lastSequence, offset) = (previousSequence, place + 1)
        body = offset..<offset
    }

    /// Finds the first frame in a range, or the end of the bytes that are not zero.
    private mutating func search(_ range: Range<Int>) throws(LogError) -> (frame: Int?, end: Int) {
        var (place, end) = (range.lowerBound, range.lowerBound)
        while place < range.upperBound {
            let chunk = try bytes(place..<min(place + buffer.count, range.upperBound))
            var candidate = chunk.offsetOfMagic(from: 0)
            while let found = candidate {
                if let frame = try frame(at: place + found), frame.sequence > lastSequence {
                    return (place + found, end)
                }
                candidate = chunk.offsetOfMagic(from: found + 1)
            }
            if !chunk.isZero { end = place + chunk.usedCount }
            if place + chunk.count == range.upperBound { break }
            place += chunk.count - Frame.headerSize + 1
        }
        return (nil, end)
    }

    /// The frame at an offset; nil if there is none, or it is longer than the file.
    mutating func frame(at place: Int, trusted: Bool = false) throws(LogError) -> Frame? {
        guard place >= LogHeader.end, place <= file.size - Frame.headerSize else { return nil }
        let header = try bytes(place..<place + Frame.headerSize)
        let frame = try Frame(header, file: trusted ? nil : mark, maximumSize: maximumSize)
        guard let frame, frame.size > file.size - place else { return frame }
        if frame.sequence > lastSequence { cut = (frame, place) }
        return nil
    }

    /// The bytes of a frame; valid until the next call, as is what other methods return.
    mutating func bytes(of frame: Frame, at place: Int) throws(LogError) -> UnsafeRawBufferPointer {
        try bytes(place..<place + frame.size)
    }

    mutating func isIntact(_ frame: Frame, at place: Int) throws(LogError) -> Bool {
        try Mark(of: bytes(of: frame, at: place).part(frame.bodyRange)) == frame.content
    }

    /// Opens a frame with a key; throws `damaged`.
    ///
    /// - Parameter trusted: whether the frame is not compared with its mark.
    mutating func record(
        _ frame: Frame,
        at place: Int,
        _ key: LogKey?,
        trusted: Bool = false
    ) throws(LogError) -> StoredRecord {
        if !trusted, try !isIntact(frame, at: place) { throw LogError(.damaged, "a frame is damaged") }
        let bytes = try bytes(of: frame, at: place)
        let (open, secret) = (bytes.part(frame.openRange), bytes.part(frame.secretRange))
        var metadata: UnsafeRawBufferPointer?
        if let key {
            if plaintext.count < frame.metadataRange.count {
                plaintext.deallocate()
                plaintext = .allocate(byteCount: frame.metadataRange.count, alignment: 16)
            }
            let data = LogKey.associatedData(mark, header: bytes, open: open, secret: secret)
            let count = try key.open(bytes.part(frame.metadataRange), data, into: plaintext)
            metadata = UnsafeRawBufferPointer(rebasing: plaintext[..<count])
        }
        return StoredRecord(id: frame.id, sequence: frame.sequence, open: open, metadata: metadata, secret: secret)
    }

    private mutating func bytes(_ range: Range<Int>) throws(LogError) -> UnsafeRawBufferPointer {
        if range.lowerBound < loaded.lowerBound || range.upperBound > loaded.upperBound {
            if range.count > buffer.count {
                buffer.deallocate()
                buffer = .allocate(byteCount: range.count, alignment: 16)
            }
            loaded = 0..<0
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(file.size - range.lowerBound))
            let count = try file.read(into: part, at: range.lowerBound)
            guard count >= range.count else { throw LogError(.displaced, "the file has become shorter") }
            loaded = range.lowerBound..<range.lowerBound + count
        }
        let start = range.lowerBound - loaded.lowerBound
        return UnsafeRawBufferPointer(rebasing: buffer[start..<start + range.count])
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func offsetOfMagic(from start: Int) -> Int? {
        var start = start
        while start <= count - Frame.headerSize, let base = baseAddress {
            guard let found = memchr(base + start, CInt(Frame.magic >> 24), count - Frame.headerSize + 1 - start)
            else { return nil }
            let offset = UnsafeRawPointer(found) - base
            if integer(at: offset) == Frame.magic { return offset }
            start = offset + 1
        }
        return nil
    }
}
