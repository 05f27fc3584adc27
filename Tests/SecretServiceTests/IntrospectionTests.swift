import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

struct IntrospectionTests {
    /// The folder of the installed interface files.
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("dbus")

    @Test(
        "#2 #49 #83 #88 #103 #104 #117 #132 each interface has exactly the members of its file",
        arguments: ["Service", "Collection", "Item", "Session", "Prompt"]
    )
    func interface_isThatOfItsFile(name: String) async throws {
        let (client, session) = try await SharedService.client()
        let path =
            switch name {
            case "Service": ObjectPath.service
            case "Collection": ObjectPath.login
            case "Item": try await client.createItem(session: session)
            case "Session": session
            default: try await client.createCollection([:]).prompt
            }
        let interface = "org.freedesktop.Secret.\(name)"
        let file = try String(contentsOf: Self.folder.appendingPathComponent("\(interface).xml"), encoding: .utf8)
        let expected = try #require(try Introspection(xml: file).members[interface])
        #expect(try await client.introspect(path).members[interface] == expected)
    }

    @Test("#132 additions to the specification are in their own interfaces, with a file")
    func furtherInterfaces_areTheirOwn() async throws {
        let (client, session) = try await SharedService.client()
        let item = try await client.createItem(session: session)
        let context = try await ContextClient(client).path
        let others = ["Audit", "Backups", "Portal", "Rules"].map { ObjectPath(unchecked: "/org/keychaind/\($0)") }
        #expect(try await Set(others.map(\.name)).isSubset(of: client.introspect(others[0].parent).children))
        for path in [.service, .login, item, session, ContextClient.authentication, context] + others {
            let live = try await client.introspect(path).members
            for (interface, members) in live where !interface.hasPrefix("org.freedesktop.") {
                #expect(interface.hasPrefix("org.keychaind.") || interface.hasPrefix("org.gnome.keyring."))
                let url = Self.folder.appendingPathComponent("\(interface).xml")
                #expect(try Introspection(xml: String(contentsOf: url, encoding: .utf8)).members[interface] == members)
            }
        }
    }

    @Test("#12 gdbus and busctl find and parse every object")
    func tools_findEverything() async throws {
        try await RunningService.withService { service in
            let session = try await service.client.openPlainSession()
            let item = try await service.client.createItem("introspected", session: session)
            func run(_ tool: String, _ arguments: String...) async throws -> String {
                let result = try await Command.run(tool, arguments, environment: service.daemon.environment)
                #expect(result.succeeded, "\(tool): \(result.text) \(result.errors)")
                return result.text
            }
            let name = KeychainDaemon.busName
            let all = try await run("gdbus", "introspect", "--session", "-d", name, "-o", "/", "--recurse")
            for interface in ["Service", "Collection", "Item"] {
                #expect(all.contains("interface org.freedesktop.Secret.\(interface) {"))
            }
            #expect(all.contains("Label = 'introspected'"))
            let tree = try await run("busctl", "--address", service.bus.address, "tree", name)
            #expect(tree.contains(item.rawValue) && tree.contains("aliases/default"))
            let members = try await run("busctl", "--address", service.bus.address, "introspect", name, item.rawValue)
            #expect(members.contains(".GetSecret"))
        }
    }
}
