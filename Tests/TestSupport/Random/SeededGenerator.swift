/// SplitMix64: random choices that are the same in every run.
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

    /// Random bytes, as many as a random number up to a bound.
    package mutating func bytes(upTo bound: Int) -> [UInt8] {
        (0..<Int.random(in: 0...bound, using: &self)).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }
}
