// What stands in for SwiftUI here is documented with SwiftUI.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Views together, with a part of its own perhaps.
public struct Block: View, Element {
    var part: Part?
    var children: [any View] = []

    public var body: Block { return self }
}

public struct Text: View, Element {
    let part: Part?
    let children: [any View] = []

    public init(_ text: String) {
        part = .text(text)
    }

    public var body: Block { return Block() }
}

public struct Image: View, Element {
    let part: Part? = nil
    let children: [any View] = []

    public init(systemName: String) {}

    public var body: Block { return Block() }
}

public struct Spacer: View, Element {
    let part: Part? = nil
    let children: [any View] = []

    public init() {}

    public var body: Block { return Block() }
}

public struct Button: View, Element {
    let part: Part?
    let children: [any View] = []

    public init(_ title: String, action: @escaping @MainActor () -> Void) {
        part = .button(title, action: action)
    }

    public var body: Block { return Block() }
}

public struct VStack: View, Element {
    let part: Part? = nil
    let children: [any View]

    public init(@ViewBuilder content: () -> Block) {
        children = [content()]
    }

    public var body: Block { return Block() }
}

public struct Group: View, Element {
    let part: Part? = nil
    let children: [any View]

    public init(@ViewBuilder content: () -> Block) {
        children = [content()]
    }

    public var body: Block { return Block() }
}

public struct ForEach: View, Element {
    let part: Part? = nil
    let children: [any View]

    public init<Item: Identifiable>(_ items: [Item], @ViewBuilder content: (Item) -> Block) {
        children = items.map { content($0) }
    }

    public var body: Block { return Block() }
}

public enum Font {
    case largeTitle
}
