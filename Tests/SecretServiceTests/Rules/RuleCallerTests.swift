import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Callers that are not what they were, or hard to name.
struct RuleCallerTests {
    /// Reads an item in a way that the arguments say, and prints the error's name or the secret.
    private static let reader = """
        import os, socket, sys
        from jeepney import DBusAddress, DBusErrorResponse, new_method_call
        from jeepney.io.blocking import DBusConnection, open_dbus_connection
        from jeepney.wrappers import unwrap_msg
        how, item, result, *former = sys.argv[1:]
        if how == "executed":
            # The bus knows the connection already, and refuses a second greeting.
            connection = DBusConnection.__new__(DBusConnection)
            super(DBusConnection, connection).__init__(socket.socket(fileno=int(former[0])))
        else:
            connection = open_dbus_connection("SESSION")
        def call(path, interface, method, signature=None, *arguments):
            message = new_method_call(DBusAddress(path, "org.freedesktop.secrets", interface), method, signature, arguments)
            return unwrap_msg(connection.send_and_get_reply(message, timeout=60))
        service = "org.freedesktop.Secret.Service"
        if how == "executed":
            session, first = former[1:]
        else:
            session = call("/org/freedesktop/secrets", service, "OpenSession", "sv", "plain", ("s", ""))[1]
        def read():
            try:
                return bytes(call(item, "org.freedesktop.Secret.Item", "GetSecret", "o", session)[0][2]).decode()
            except DBusErrorResponse as error:
                return error.name.split(".")[-1]
        if how not in ("first", "executed"): first = read()
        if how == "first": first = ""
        if how == "executes":
            os.set_inheritable(connection.sock.fileno(), True)
            loader = next(line.split()[-1] for line in open("/proc/self/maps") if "/ld-linux" in line)
            arguments = [loader, sys.executable, sys.argv[0], "executed", item, result]
            os.execv(loader, arguments + [str(connection.sock.fileno()), session, first])
        if how in ("dies", "first"):
            parent = os.getpid()
            if os.fork():
                os._exit(0)
            # The connection lives on here.
            def lives():
                try:
                    return open(f"/proc/{parent}/stat").read().rsplit(")", 1)[1].split()[0] not in "ZX"
                except OSError:
                    return False
            while lives(): pass
        with open(result + ".new", "w") as file: file.write(f"{first} {read()}".strip())
        os.rename(result + ".new", result)
        """

    private func read(_ how: String, _ item: ObjectPath, of service: RunningService) async throws -> String {
        let folder = try TemporaryFolder()
        let script = folder.path("reader.py")
        let result = folder.path("result")
        try Data(Self.reader.utf8).write(to: URL(fileURLWithPath: script))
        _ = try await Command.run(
            "/usr/bin/python3",
            [script, how, item.rawValue, result],
            environment: service.daemon.environment
        )
        try await eventually("the result") { FileManager.default.fileExists(atPath: result) }
        return try String(contentsOfFile: result, encoding: .utf8)
    }

    @Test("a connection whose process has ended, or runs another program by now, counts as any program")
    func ended_countsAsAny() async throws {
        try await RunningService.withPrompter { service, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("Bank", ["service": "bank"], secret: "secret", session: session)
            try await client.addRules("never program:/nonexistent service=bank")
            #expect(try await read("lives", item, of: service) == "secret secret")
            #expect(try await read("dies", item, of: service) == "secret AccessDenied")
            #expect(try await read("first", item, of: service) == "AccessDenied")
            #expect(try await read("executes", item, of: service) == "secret AccessDenied")
            // The audit names what was seen of it.
            let entries = try await service.waitForEntries { $0.contains { $0.outcome == "forbidden" } }
            let denial = try #require(entries.first { $0.outcome == "forbidden" })
            #expect(denial.evidence == "nothing")
        }
    }

    @Test("a program with control characters in its path is named in rules, and harms no terminal")
    func controlCharacters() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createItem("Bank", ["service": "bank"], secret: "secret", session: session)
            let folder = try TemporaryFolder()
            let program = folder.path("x\u{1b}[31m\n\u{202e}y z\"")
            try FileManager.default.copyItem(atPath: "/usr/bin/secret-tool", toPath: program)
            let written = "never program:\"\(folder.path)/x\\u{1b}[31m\\n\\u{202e}y z\\\"\" *"
            try await client.addRules(written)
            let listed = try #require(try await client.ruleTexts().first)
            #expect(listed == written)
            let story = try #require(prompter.questions.all.last?.text("description"))
            #expect(!story.contains("\u{1b}") && !story.contains("\u{202e}y"))
            let found = try await Command.run(
                program,
                ["lookup", "service", "bank"],
                environment: service.daemon.environment
            )
            #expect(!found.succeeded && found.output.isEmpty)
            #expect(try await client.secretText(of: item, session: session) == "secret")
        }
    }

    @Test("a helper is known with the program that it works for")
    func chain() async throws {
        try await RunningService.withPrompter { service, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            _ = try await client.createItem("Bank", ["service": "bank"], secret: "secret", session: session)
            let folder = try TemporaryFolder()
            let script = folder.path("app")
            try Data(
                "import subprocess, sys\nsys.exit(subprocess.call(['secret-tool', 'lookup', 'service', 'bank']))".utf8
            )
            .write(to: URL(fileURLWithPath: script))
            try await client.addRules("never script:\(script) through program:/usr/bin/secret-tool *")
            let environment = service.daemon.environment
            let behind = try await Command.run("/usr/bin/python3", [script], environment: environment)
            #expect(!behind.succeeded && behind.output.isEmpty)
            let alone = try await Command.run("secret-tool", ["lookup", "service", "bank"], environment: environment)
            #expect(alone.text == "secret")
        }
    }
}
