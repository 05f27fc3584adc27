package import KeychaindDBus

/// Random values of all D-Bus types, often edge cases.
package struct RandomValues {
    private var generator: SeededGenerator

    package init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// Returns one of the elements.
    package mutating func choice<Element>(_ elements: [Element]) -> Element {
        elements.randomElement(using: &generator)!
    }

    package mutating func string() -> String {
        let alphabet = Array("aZ09 _:\"'\\/\n\t\u{7f}\u{80}äß\u{7ff}\u{800}漢\u{fffd}🔑\u{10ffff}")
        return String((0..<length()).map { _ in alphabet.randomElement(using: &generator)! })
    }

    package mutating func bytes() -> ByteArray {
        ByteArray((0..<length()).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    package mutating func objectPath() -> ObjectPath {
        let elements = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
            String((0...length() % 9).map { _ in "abcXYZ019_".randomElement(using: &generator)! })
        }
        return elements.isEmpty ? .root : ObjectPath(unchecked: "/" + elements.joined(separator: "/"))
    }

    package mutating func uint64() -> UInt64 {
        [0, 1, UInt64(UInt32.max), UInt64.max, generator.next()].randomElement(using: &generator)!
    }

    package mutating func int32() -> Int32 {
        [0, -1, Int32.min, Int32.max, Int32(truncatingIfNeeded: generator.next())].randomElement(using: &generator)!
    }

    package mutating func stringDictionary() -> [String: String] {
        Dictionary((0..<length() % 20).map { _ in (string(), string()) }) { $1 }
    }

    package mutating func variant(depth: Int = 0) -> Variant {
        switch Int.random(in: 0...(depth < 8 ? 10 : 9), using: &generator) {
        case 0: .boolean(Bool.random(using: &generator))
        case 1: .int32(int32())
        case 2: .uint32(UInt32(truncatingIfNeeded: generator.next()))
        case 3: .uint64(uint64())
        case 4: .string(string())
        case 5: .objectPath(objectPath())
        case 6: .bytes(bytes())
        case 7: .objectPaths(list { $0.objectPath() })
        case 8: .strings(list { $0.string() })
        case 9: .stringDictionary(stringDictionary())
        default: .variant(variant(depth: depth + 1))
        }
    }

    package mutating func properties() -> [String: Variant] {
        Dictionary((0..<length() % 10).map { _ in (string(), variant()) }) { $1 }
    }

    package mutating func list<Element>(_ element: (inout RandomValues) -> Element) -> [Element] {
        (0..<length() % 20).map { _ in element(&self) }
    }

    /// Returns a length: usually short, sometimes 0, sometimes long.
    private mutating func length() -> Int {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: 0
        case 1: Int.random(in: 0...2000, using: &generator)
        default: Int.random(in: 1...12, using: &generator)
        }
    }
}

/// A SplitMix64 generator: the same numbers in every run.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    /// Returns a random number of random bytes, up to a bound.
    package mutating func bytes(upTo bound: Int) -> [UInt8] {
        (0..<Int.random(in: 0...bound, using: &self)).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }
}
