/// The results of operations that were measured in turn.
struct Comparison {
    /// The median times.
    let times: [Duration]

    /// The median ratios to the first operation, taken within each round.
    ///
    /// Both times of a round are taken in the same fraction of a second. A machine that slows down shifts the medians
    /// of all samples, but not these ratios.
    let ratios: [Double]

    /// The median differences to the first operation, taken within each round.
    let rests: [Duration]
}
