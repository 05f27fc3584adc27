// What stands in for SwiftUI here is documented with SwiftUI.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Stands in for SwiftUI, which is not on Linux: enough of it for the views of tutorials to compile and to be pressed.
@MainActor
public protocol View {
    associatedtype Body: View

    @ViewBuilder var body: Body { get }
}

/// A view whose body does not matter, as it has children and a part of its own.
@MainActor
protocol Element {
    var children: [any View] { get }
    var part: Part? { get }
}

/// What a person sees or presses.
public enum Part {
    case text(String)
    case button(String, action: @MainActor () -> Void)
    case appearance(action: @MainActor () -> Void)
}

extension View {
    /// Everything that there is to see and to press, in order.
    public var parts: [Part] {
        guard let element = self as? any Element else { return body.parts }
        return [element.part].compactMap { $0 } + element.children.flatMap(\.parts)
    }

    /// The texts that are to be seen.
    public var texts: [String] {
        parts.compactMap { if case .text(let text) = $0 { text } else { nil } }
    }

    /// Presses a button; false if there is none of that title.
    public func press(_ title: String) -> Bool {
        for case .button(title, let action) in parts {
            action()
            return true
        }
        return false
    }

    /// Shows the view.
    public func appear() {
        for case .appearance(let action) in parts { action() }
    }

    public func onAppear(perform action: @escaping @MainActor () -> Void) -> some View {
        Block(part: .appearance(action: action), children: [self])
    }

    public func font(_ font: Font) -> some View { self }
}
