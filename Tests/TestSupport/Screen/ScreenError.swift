/// Why a ``Screen`` cannot be used.
struct ScreenError: Error, CustomStringConvertible {
    let reason: String

    var description: String { reason }
}
