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

    /// A time beside the time of a floor that was measured in turn with it.
    init(_ name: String, _ time: Duration, to floor: Duration, _ floorName: String, _ requirement: Requirement) {
        self.init(
            name,
            time / floor,
            "× " + floorName,
            requirement,
            figure: "\(time.microseconds.formatted(digits: 1)) µs"
        )
    }

    /// The rate of calls that took so long each, beside the rate of others.
    init(_ name: String, rate time: Duration, to other: Duration, _ otherName: String, _ requirement: Requirement) {
        self.init(
            name,
            other / time,
            "× " + otherName,
            requirement,
            figure: "\((1 / (time / .seconds(1))).formatted(digits: 0)) /s"
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
