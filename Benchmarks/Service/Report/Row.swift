/// A line of the table: what was measured, and the value that is held to a bound.
struct Row {
    let name: String

    /// The figure itself, such as a median in microseconds; empty if it is the value.
    let figure: String

    /// What is compared: most often how many times the floor the figure is.
    let value: Double

    /// What the value counts, such as "× Ping".
    let unit: String

    let requirement: Requirement

    var passes: Bool { requirement.isMet(by: value) }

    /// A value by itself.
    init(_ name: String, _ value: Double, _ unit: String, _ requirement: Requirement, figure: String = "") {
        self.name = name
        self.figure = figure
        self.value = value
        self.unit = unit
        self.requirement = requirement
    }

    /// A time beside the time of a floor, which was measured before it in each turn.
    ///
    /// - Parameter index: the place of what was measured; that of the floor is 0.
    init(
        _ name: String,
        _ comparison: Comparison,
        at index: Int = 1,
        to floorName: String,
        _ requirement: Requirement
    ) {
        self.init(
            name,
            comparison.ratios[index],
            "× " + floorName,
            requirement,
            figure: "\(comparison.times[index].microseconds.formatted(digits: 1)) µs"
        )
    }

    /// The rate of calls that took so long each, beside the rate of others, which were measured before them in each turn.
    init(_ name: String, rateOf comparison: Comparison, to otherName: String, _ requirement: Requirement) {
        self.init(
            name,
            1 / comparison.ratios[1],
            "× " + otherName,
            requirement,
            figure: "\((1 / (comparison.times[1] / .seconds(1))).formatted(digits: 0)) /s"
        )
    }
}

extension Double {
    /// The number with so many digits behind the point.
    func formatted(digits: Int) -> String {
        let scale = (0..<digits).reduce(1) { power, _ in power * 10 }
        guard isFinite, abs(self) < 1e15 else { return "\(self)" }
        let units = Int((abs(self) * Double(scale)).rounded())
        let fraction = String(units % scale)
        let sign = self < 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(units)" }
        return "\(sign)\(units / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
