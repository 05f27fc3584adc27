// What stands in for SwiftUI here is documented with SwiftUI.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// A view's own state, which stays when the view is made anew.
@MainActor
@propertyWrapper
public struct State<Value> {
    private final class Box {
        var value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private let box: Box

    public init(wrappedValue: Value) {
        box = Box(wrappedValue)
    }

    public var wrappedValue: Value {
        get { box.value }
        nonmutating set { box.value = newValue }
    }
}
