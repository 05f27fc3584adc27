import Glibc

/// The lookup attributes of an item, packed into one byte array.
///
/// The bytes are canonical: `name ‖ 0 ‖ value ‖ 0` per attribute, sorted by the bytes of the names, each name once. So
/// equal attributes have equal bytes, an item keeps a single allocation, and names and values can be passed to C in
/// place. Matching compares bytes (#63), without folding case or Unicode normalization.
package struct Attributes: Hashable, Sendable {
    package static let reservedPrefix = "keychain:"
    private static let reservedPrefixBytes = Array(reservedPrefix.utf8)

    /// libsecret's name of the schema, an attribute like the others.
    package static let schema = "xdg:schema"

    /// The schema of items that have none.
    package static let genericSchema = "org.freedesktop.Secret.Generic"
    package static let genericPair = Array("\(schema)\0\(genericSchema)".utf8)

    /// The application of an imported portal secret.
    ///
    /// An item that has it is never replaced by a new one.
    package static let portalApplication = reservedPrefix + "portal-application"

    /// The mark of a portal secret that another one has replaced; the portal does not give it away.
    package static let replacedPortalSecret = reservedPrefix + "portal-replaced"

    /// The stamp: the identity of the sandboxed program that has stored the item, such as `flatpak:org.example.Mail`.
    ///
    /// Written by the daemon alone.
    package static let program = reservedPrefix + "program"

    // The bytes before `start` belong to a value that shares the allocation.
    private let bytes: [UInt8]
    private let start: Int

    package var packed: ArraySlice<UInt8> { bytes[start...] }

    package init() {
        self.init(canonical: [])
    }

    /// Of equal names the last wins; a string is cut at a NUL, which D-Bus strings never contain.
    package init(_ pairs: some Sequence<(String, String)>) {
        var fields = pairs.map { pair in Field(name: Self.cString(pair.0), value: Self.cString(pair.1)) }
        guard !fields.isEmpty else {
            self.init()
            return
        }
        // The sort is stable, so of equal names the last given comes last.
        fields.sort { first, second in first.name.lexicographicallyPrecedes(second.name) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(fields.reduce(0) { count, field in count + field.name.count + field.value.count + 2 })
        for (index, field) in fields.enumerated() {
            if index + 1 < fields.count, fields[index + 1].name == field.name { continue }
            bytes += field.name
            bytes.append(0)
            bytes += field.value
            bytes.append(0)
        }
        self.init(canonical: bytes)
    }

    /// Copies C strings, which only have to stay valid during the call; of equal names the last wins.
    package init(copying pairs: [(name: UnsafePointer<CChar>, value: UnsafePointer<CChar>)]) {
        let fields = pairs.map { pair in CField(name: pair.name, value: pair.value) }
        // The sort is stable, so of equal names the last given comes last.
        let sorted = fields.sorted { first, second in strcmp(first.name, second.name) < 0 }
        var count = 0
        for field in sorted { count += field.nameCount + field.valueCount }
        self.init(
            canonical: [UInt8](unsafeUninitializedCapacity: count) { bytes, used in
                for (index, field) in sorted.enumerated() {
                    if index + 1 < sorted.count, strcmp(sorted[index + 1].name, field.name) == 0 { continue }
                    used = Self.append(field.name, field.nameCount, to: bytes, at: used)
                    used = Self.append(field.value, field.valueCount, to: bytes, at: used)
                }
            }
        )
    }

    /// Takes stored bytes; nil unless they are canonical UTF-8.
    package init?(validating bytes: UnsafeRawBufferPointer) {
        guard Self.areCanonical(bytes) else { return nil }
        self.init(canonical: Array(bytes))
    }

    /// Takes bytes known to be canonical, such as a subset of canonical ones.
    ///
    /// - Parameter start: where they begin; the bytes before share the allocation.
    package init(canonical bytes: [UInt8], from start: Int = 0) {
        self.bytes = bytes
        self.start = start
    }

    package static func areCanonical(_ bytes: UnsafeRawBufferPointer) -> Bool {
        PackedPairs.areCanonical(bytes)
    }

    package static func == (first: Attributes, second: Attributes) -> Bool {
        first.packed == second.packed
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(packed)
    }

    package var isEmpty: Bool { start == bytes.count }

    package var count: Int {
        packed.withUnsafeBytes { bytes in
            var count = 0
            var pairs = PackedPairs(bytes)
            while pairs.next() != nil { count += 1 }
            return count
        }
    }

    package subscript(name: String) -> String? {
        let wanted = Self.cString(name)
        return packed.withUnsafeBytes { bytes in
            var pairs = PackedPairs(bytes)
            while let pair = pairs.next() {
                if pair.name.elementsEqual(wanted) { return String(decoding: pair.value, as: UTF8.self) }
            }
            return nil
        }
    }

    /// Calls `body` with each name and value, ordered by name, as C strings that are valid during the call.
    package func forEach<Failure: Error>(
        _ body: (_ name: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>) throws(Failure) -> Void
    ) throws(Failure) {
        // `withUnsafeBytes` does not support typed throws here, so the error travels in the result.
        let result: Result<Void, Failure> = packed.withUnsafeBytes { bytes in
            var pairs = PackedPairs(bytes)
            while let pair = pairs.next() {
                guard let name = pair.name.baseAddress, let value = pair.value.baseAddress else { continue }
                do throws(Failure) {
                    try body(name.assumingMemoryBound(to: CChar.self), value.assumingMemoryBound(to: CChar.self))
                } catch {
                    return .failure(error)
                }
            }
            return .success(())
        }
        try result.get()
    }

    /// Calls `body` with `name ‖ 0 ‖ value` of each attribute, the input of a blind index.
    package func forEachPair(_ body: (UnsafeRawBufferPointer) -> Void) {
        packed.withUnsafeBytes { bytes in
            var pairs = PackedPairs(bytes)
            while let pair = pairs.next() { body(pair.both) }
        }
    }

    /// Like ``forEachPair(_:)``, those with reserved names last, until `body` returns false.
    package func visitPairs(_ body: (UnsafeRawBufferPointer) -> Bool) {
        let prefix = Self.reservedPrefix.utf8
        packed.withUnsafeBytes { bytes in
            for takesReserved in [false, true] {
                var pairs = PackedPairs(bytes)
                while let pair = pairs.next() {
                    guard pair.name.starts(with: prefix) == takesReserved else { continue }
                    guard body(pair.both) else { return }
                }
            }
        }
    }

    package var hasSchema: Bool {
        packed.withUnsafeBytes { bytes in
            var pairs = PackedPairs(bytes)
            while let pair = pairs.next() {
                if pair.name.elementsEqual(Self.schema.utf8) { return true }
            }
            return false
        }
    }

    /// Whether a search for attributes finds an item with these (#63, #64): the generic schema is none.
    package func matches(_ query: Attributes) -> Bool {
        if contains(all: query) { return true }
        return !hasSchema && query[Self.schema] == Self.genericSchema
            && contains(all: query.setting(Self.schema, to: nil))
    }

    /// Compares names and values by bytes (#63, #64).
    package func contains(all others: Attributes) -> Bool {
        packed.withUnsafeBytes { bytes in
            others.packed.withUnsafeBytes { otherBytes in
                var mine = PackedPairs(bytes)
                var wanted = PackedPairs(otherBytes)
                while let pair = wanted.next() {
                    var found = false
                    // Both are sorted, so one pass finds them all.
                    while !found, let candidate = mine.next() {
                        found = candidate.both.count == pair.both.count && candidate.both.elementsEqual(pair.both)
                        if !found, pair.name.lexicographicallyPrecedes(candidate.name) { return false }
                    }
                    if !found { return false }
                }
                return true
            }
        }
    }

    /// What decides whether an item replaces another (#94): the attributes without reserved ones and generic schema.
    package var compared: Attributes {
        let prefix = Self.reservedPrefixBytes
        var bytes: [UInt8] = []
        var leftOut = false
        packed.withUnsafeBytes { all in
            var pairs = PackedPairs(all)
            while let pair = pairs.next() {
                if pair.name.starts(with: prefix) || pair.both.elementsEqual(Self.genericPair) {
                    leftOut = true
                } else {
                    bytes += pair.both
                    bytes.append(0)
                }
            }
        }
        return leftOut ? Attributes(canonical: bytes) : self
    }

    /// The attributes with one set to a value, or without that one if the value is nil.
    package func setting(_ name: String, to value: String?) -> Attributes {
        let name = Self.cString(name)
        var bytes: [UInt8] = []
        var addition = value.map { value in name + [0] + Self.cString(value) + [0] }
        packed.withUnsafeBytes { all in
            var pairs = PackedPairs(all)
            while let pair = pairs.next() {
                if pair.name.elementsEqual(name) { continue }
                if let added = addition, name.lexicographicallyPrecedes(pair.name) {
                    bytes += added
                    addition = nil
                }
                bytes += pair.both
                bytes.append(0)
            }
        }
        return Attributes(canonical: bytes + (addition ?? []))
    }

    /// The attributes with the schema of others if they name none.
    package func keepingSchema(of others: Attributes) -> Attributes {
        guard self[Self.schema] == nil, let schema = others[Self.schema] else { return self }
        return setting(Self.schema, to: schema)
    }

    /// The attributes with the stamp of a program, or with none.
    package func stamped(by program: String?) -> Attributes {
        // Most items have no reserved attributes, and need no copy.
        if program == nil, !hasReserved { return self }
        return setting(Self.program, to: program)
    }

    package var hasReserved: Bool {
        Self.reservedPrefixBytes.withUnsafeBytes { prefix in
            packed.withUnsafeBytes { bytes in
                var pairs = PackedPairs(bytes)
                while let pair = pairs.next() {
                    let order = PackedPairs.compare(pair.name, prefix)
                    if order == 0, pair.name.count >= prefix.count { return true }
                    // The names ascend.
                    if order > 0 { return false }
                }
                return false
            }
        }
    }

    private struct Field {
        let name: [UInt8]
        let value: [UInt8]
    }

    /// With their terminators.
    private struct CField {
        let name: UnsafePointer<CChar>
        let value: UnsafePointer<CChar>
        let nameCount: Int
        let valueCount: Int

        init(name: UnsafePointer<CChar>, value: UnsafePointer<CChar>) {
            self.name = name
            self.value = value
            nameCount = strlen(name) + 1
            valueCount = strlen(value) + 1
        }
    }

    private static func append(
        _ text: UnsafePointer<CChar>,
        _ count: Int,
        to bytes: UnsafeMutableBufferPointer<UInt8>,
        at offset: Int
    ) -> Int {
        UnsafeMutableRawBufferPointer(bytes).baseAddress?.advanced(by: offset).copyMemory(from: text, byteCount: count)
        return offset + count
    }

    private static func cString(_ text: String) -> [UInt8] {
        var text = text
        return text.withUTF8 { bytes in Array(bytes.prefix { byte in byte != 0 }) }
    }
}

extension Attributes: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements)
    }
}
