import Foundation
import FoundationXML
import KeychaindDBus
import KeychaindTestSupport

/// The content of an `Introspect` reply or an interface file.
struct Introspection: Equatable {
    /// A method, signal or property in one line: kind, name, arguments or type, and annotations.
    typealias Member = String

    private(set) var members: [String: Set<Member>] = [:]
    private(set) var children: [String] = []

    var interfaces: Set<String> { Set(members.keys) }

    /// Throws if the XML is not well-formed.
    init(xml: String) throws {
        let reader = Reader()
        let parser = XMLParser(data: Data(xml.utf8))
        parser.delegate = reader
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.fileReadCorruptFile) }
        members = reader.members
        children = reader.children
    }

    private final class Reader: NSObject, XMLParserDelegate {
        var members: [String: Set<Member>] = [:]
        var children: [String] = []
        private var interface = ""
        private var member = ""
        private var depth = 0

        func parser(
            _ parser: XMLParser,
            didStartElement element: String,
            namespaceURI: String?,
            qualifiedName: String?,
            attributes: [String: String]
        ) {
            let name = attributes["name"] ?? ""
            switch element {
            case "node":
                depth += 1
                if depth == 2 { children.append(name) }
            case "interface":
                interface = name
                members[name] = []
            case "method", "signal":
                member = "\(element) \(name)"
            case "arg":
                member += " \(attributes["direction"] ?? "out"):\(attributes["type"] ?? "")"
            case "property":
                member = "property \(name) \(attributes["type"] ?? "") \(attributes["access"] ?? "")"
            case "annotation":
                member += " \(name)=\(attributes["value"] ?? "")"
            default:
                break
            }
        }

        func parser(
            _ parser: XMLParser,
            didEndElement element: String,
            namespaceURI: String?,
            qualifiedName: String?
        ) {
            switch element {
            case "node": depth -= 1
            case "method", "signal", "property": members[interface]?.insert(member)
            default: break
            }
        }
    }
}

extension SecretServiceProxy {
    func introspect(_ path: ObjectPath) async throws -> Introspection {
        let reply = try await call(path, StandardInterface.introspectable, "Introspect")
        return try Introspection(xml: reply.read(String.self))
    }
}
