/// A row of the table: a measurement and the value with a requirement.
struct Row {
    let name: String

    /// The measured figure, such as a median in microseconds; empty if it is the value.
    let figure: String

    /// The compared value, usually the ratio to the floor.
    let value: Double

    /// The unit of the value, such as "× Ping".
    let unit: String

    let requirement: Requirement

    var passes: Bool { requirement.isMet(by: value) }

    /// Creates a row with a value only.
    init(_ name: String, _ value: Double, _ unit: String, _ requirement: Requirement, figure: String = "") {
        self.name = name
        self.figure = figure
        self.value = value
        self.unit = unit
        self.requirement = requirement
    }

    /// Creates a row for a time and its ratio to the floor, measured in turn.
    ///
    /// - Parameter index: the index of the measured operation; the floor has index 0.
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

    /// Creates a row for a call rate and its ratio to another, measured in turn.
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
    /// Formats the number with a number of decimals.
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
