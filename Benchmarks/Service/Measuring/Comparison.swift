/// What came of operations that were measured in turn, in their order.
struct Comparison {
    /// The medians of all samples.
    let times: [Duration]

    /// How many times as long as the first they took: the medians of what it was in each round.
    ///
    /// Both of a round were measured in the same fraction of a second. A machine that becomes slower in the middle shifts the medians of
    /// all samples against one another, and these not.
    let ratios: [Double]

    /// How much longer than the first they took: the medians of what it was in each round.
    let rests: [Duration]
}
