/// A signal of an interface, as introspection shows it.
package struct SignalDeclaration: Hashable, Sendable {
    let name: String
    let parameters: [Parameter]

    package init(_ name: String, _ parameters: [Parameter] = []) {
        self.name = name
        self.parameters = parameters
    }
}
