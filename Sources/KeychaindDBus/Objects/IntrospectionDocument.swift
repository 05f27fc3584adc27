/// The XML reply of `Introspect`.
struct IntrospectionDocument {
    private var text = """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <node>
          <interface name="org.freedesktop.DBus.Introspectable">
            <method name="Introspect">
              <arg name="xml_data" type="s" direction="out"/>
            </method>
          </interface>
          <interface name="org.freedesktop.DBus.Peer">
            <method name="Ping"/>
            <method name="GetMachineId">
              <arg name="machine_uuid" type="s" direction="out"/>
            </method>
          </interface>
          <interface name="org.freedesktop.DBus.Properties">
            <method name="Get">
              <arg name="interface_name" type="s" direction="in"/>
              <arg name="property_name" type="s" direction="in"/>
              <arg name="value" type="v" direction="out"/>
            </method>
            <method name="Set">
              <arg name="interface_name" type="s" direction="in"/>
              <arg name="property_name" type="s" direction="in"/>
              <arg name="value" type="v" direction="in"/>
            </method>
            <method name="GetAll">
              <arg name="interface_name" type="s" direction="in"/>
              <arg name="properties" type="a{sv}" direction="out"/>
            </method>
            <signal name="PropertiesChanged">
              <arg name="interface_name" type="s"/>
              <arg name="changed_properties" type="a{sv}"/>
              <arg name="invalidated_properties" type="as"/>
            </signal>
          </interface>

        """

    /// Lists the members in alphabetical order.
    mutating func add<Object>(_ interface: Interface<Object>) {
        text += "  <interface name=\"\(interface.name)\">\n"
        for method in interface.methods.sorted(by: { $0.name < $1.name }) {
            let arguments =
                method.inputs.map { argument($0, direction: "in") }
                + method.outputs.map { argument($0, direction: "out") }
            addMember("method", method.name, arguments)
        }
        for signal in interface.signals.sorted(by: { $0.name < $1.name }) {
            addMember("signal", signal.name, signal.parameters.map { argument($0, direction: nil) })
        }
        for property in interface.properties.sorted(by: { $0.name < $1.name }) {
            let access = property.set == nil ? "read" : "readwrite"
            text += "    <property name=\"\(property.name)\" type=\"\(property.signature)\" access=\"\(access)\""
            addChanges(property.changes)
        }
        text += "  </interface>\n"
    }

    private mutating func addChanges(_ changes: PropertyChanges) {
        if case .told = changes { return text += "/>\n" }
        text += ">\n      <annotation name=\"\(PropertyChanges.annotation)\" value=\"\(changes.rawValue)\"/>\n"
        text += "    </property>\n"
    }

    /// Lists the objects directly below: by parts, since interpolation allocates memory for each.
    mutating func addChildren(_ names: [String]) {
        let (opening, closing) = ("  <node name=\"", "\"/>\n")
        for name in names {
            text += opening
            text += name
            text += closing
        }
    }

    consuming func finish() -> String {
        text + "</node>\n"
    }

    private mutating func addMember(_ element: String, _ name: String, _ arguments: [String]) {
        guard !arguments.isEmpty else {
            text += "    <\(element) name=\"\(name)\"/>\n"
            return
        }
        text += "    <\(element) name=\"\(name)\">\n" + arguments.joined() + "    </\(element)>\n"
    }

    private func argument(_ parameter: Parameter, direction: String?) -> String {
        let direction = direction.map { " direction=\"\($0)\"" } ?? ""
        return "      <arg name=\"\(parameter.name)\" type=\"\(parameter.signature)\"\(direction)/>\n"
    }
}
