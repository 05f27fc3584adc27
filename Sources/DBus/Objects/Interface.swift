/// An interface, declared once: dispatch, the checking of arguments, properties and introspection all come from here.
package struct Interface<Object> {
    package let name: String
    let methods: [Method<Object>]
    let properties: [Property<Object>]
    let signals: [SignalDeclaration]

    package init(
        _ name: String,
        methods: [Method<Object>] = [],
        properties: [Property<Object>] = [],
        signals: [SignalDeclaration] = []
    ) {
        self.name = name
        self.methods = methods
        self.properties = properties
        self.signals = signals
    }
}
