// What stands in for SwiftUI here is documented with SwiftUI.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Puts views together.
@resultBuilder
@MainActor
public enum ViewBuilder {
    public static func buildExpression(_ view: any View) -> Block { Block(children: [view]) }

    public static func buildBlock(_ views: Block...) -> Block { Block(children: views) }

    public static func buildOptional(_ view: Block?) -> Block { view ?? Block() }

    public static func buildEither(first view: Block) -> Block { view }

    public static func buildEither(second view: Block) -> Block { view }
}
