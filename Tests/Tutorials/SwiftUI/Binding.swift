// What stands in for SwiftUI here is documented with SwiftUI.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// What a view changes for whoever has it.
@MainActor
@propertyWrapper
public struct Binding<Value> {
    private let get: @MainActor () -> Value
    private let set: @MainActor (Value) -> Void

    public init(get: @escaping @MainActor () -> Value, set: @escaping @MainActor (Value) -> Void) {
        self.get = get
        self.set = set
    }

    public var wrappedValue: Value {
        get { get() }
        nonmutating set { set(newValue) }
    }
}
