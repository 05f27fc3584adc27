/// The verbs of sentences about a number of things.
extension Int {
    var isOrAre: String { self == 1 ? "is" : "are" }
}
