/// What happens on a ``Screen``.
package enum ScreenEvent: Hashable, Sendable {
    /// A window is shown.
    case shown
    /// A window is hidden.
    case hidden
    /// A window has another size or place.
    case resized
    /// A window has the keys.
    case focused
    /// A dialog takes every key from here on.
    case keyboardGrabbed
    /// Keys are for all again.
    case keyboardReleased
}
