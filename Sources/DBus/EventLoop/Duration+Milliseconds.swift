extension Duration {
    /// Whole milliseconds, rounded up, from zero to about 24 days: what libdbus takes.
    var clampedMilliseconds: Int32 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: min(seconds, Int64(Int32.max)) * 1000 + fraction)
    }
}
