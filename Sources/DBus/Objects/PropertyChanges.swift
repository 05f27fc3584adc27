/// How programs hear that a property has changed: the annotation `EmitsChangedSignal` of the D-Bus specification.
package enum PropertyChanges: String, Sendable {
    /// By `PropertiesChanged`, with the new value; what no annotation means.
    case told = "true"
    /// Not at all: they have to ask.
    case untold = "false"
    /// It never changes.
    case never = "const"

    static let annotation = "org.freedesktop.DBus.Property.EmitsChangedSignal"
}
