import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Testing

@Suite("keychainctl at a terminal")
struct ItemTerminalTests {
    @Test("A terminal types a secret twice without echo, and gets it with a newline; one that it has cut is not stored")
    func terminal_setAndGet() async throws {
        try await Controlled.with { controlled in
            let terminal = try TestTerminal()
            let environment = controlled.provider.bus.environment
            let set = try terminal.run("exec \(ImportHome.executable) set a=b", environment: environment)
            try await terminal.waitFor("Secret: ")
            #expect(!terminal.echoes)
            terminal.type("typed\r")
            try await terminal.waitFor("Repeat the secret: ")
            terminal.type("typed\r")
            #expect(try await set.waitForExit() == .success)
            let get = try terminal.run("\(ImportHome.executable) get a=b; echo end", environment: environment)
            try await terminal.waitFor("typed\r\nend")
            #expect(try await get.waitForExit() == .success)
            let long = try terminal.run("exec \(ImportHome.executable) set a=c", environment: environment)
            try await terminal.waitFor("Secret: ")
            terminal.type(String(repeating: "x", count: 5000) + "\r")
            try await terminal.waitFor("a terminal cuts a line of this length")
            #expect(try await long.waitForExit() == .exited(7))
            #expect(try await controlled.login.items().count == 1)
        }
    }

    @Test("What another program does with an item while its secret is typed stays", arguments: TestedProvider.allCases)
    func terminal_set_keepsChangesOfOthers(kind: TestedProvider) async throws {
        try await Controlled.with(kind) { controlled in
            let item = try await controlled.add("Mail", ["service": "mail"])
            for service in ["mail", "news"] {
                let terminal = try TestTerminal()
                let line = "exec \(ImportHome.executable) set service=\(service)"
                let set = try terminal.run(line, environment: controlled.provider.bus.environment)
                try await terminal.waitFor("Secret: ")
                if service == "mail" {
                    try await item.setLabel("Post")
                } else {
                    try await controlled.add("News", ["service": "news"])
                }
                terminal.type("typed\r")
                try await terminal.waitFor("Repeat the secret: ")
                terminal.type("typed\r")
                #expect(try await set.waitForExit() == .success)
                let items = try await controlled.client.search(["service": service]).all
                #expect(items.count == 1)
                #expect(try await items.first?.label() == (service == "mail" ? "Post" : "News"))
                #expect(try await controlled.text(["service": service]) == "typed")
            }
        }
    }

    @Test("Attributes that another program changes while a secret is typed stay changed")
    func terminal_edit_keepsChangesOfOthers() async throws {
        try await Controlled.with { controlled in
            let item = try await controlled.add("Mail", ["service": "mail", "user": "anna"])
            let terminal = try TestTerminal()
            let line = "exec \(ImportHome.executable) edit service=mail --attribute port=993 --secret"
            let edit = try terminal.run(line, environment: controlled.provider.bus.environment)
            try await terminal.waitFor("Secret: ")
            try await item.setAttributes(["service": "mail", "user": "bob"])
            terminal.type("typed\r")
            try await terminal.waitFor("Repeat the secret: ")
            terminal.type("typed\r")
            #expect(try await edit.waitForExit() == .success)
            let attributes = try await item.attributes()
            #expect(attributes["user"] == "bob" && attributes["port"] == "993")
            #expect(try await controlled.text(of: item) == "typed")
        }
    }

    @Test("A secret that could act on a terminal is not written to one")
    func terminal_harmfulSecret_isRefused() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Evil", ["a": "b"], "\u{1B}]0;owned\u{7}")
            let terminal = try TestTerminal()
            let get = try terminal.run(
                "exec \(ImportHome.executable) get a=b",
                environment: controlled.provider.bus.environment
            )
            try await terminal.waitFor("could act on the terminal")
            #expect(try await get.waitForExit() == .exited(7))
        }
    }

    @Test("A table fits a terminal of twenty columns")
    func terminal_narrow_fits() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("A label that is much longer than the terminal is wide", ["a": "b"])
            let terminal = try TestTerminal()
            let list = try terminal.run(
                "stty cols 20; \(ImportHome.executable) list | cat; NO_COLOR=1 \(ImportHome.executable) list; echo end",
                environment: controlled.provider.bus.environment
            )
            try await terminal.waitFor("ID       LABEL\r\nlogin/1  A label th…\r\nend")
            #expect(try await list.waitForExit() == .success)
        }
    }

    @Test("A closed pipe ends quietly, as it ends other commands")
    func list_closedPipe_endsQuietly() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Mail", ["a": "b"])
            let script = """
                import os, subprocess, sys
                for disposition in (True, False):
                    reader, writer = os.pipe()
                    os.close(reader)
                    result = subprocess.run([sys.argv[1], "list"], stdout=writer, stderr=subprocess.PIPE,
                                            restore_signals=disposition)
                    os.close(writer)
                    assert result.returncode == -13, result
                    assert result.stderr == b"", result
                """
            let result = try await Command.python(
                script,
                [ImportHome.executable],
                environment: controlled.provider.bus.environment
            )
            #expect(result.succeeded, "\(result.errors)")
        }
    }
}
