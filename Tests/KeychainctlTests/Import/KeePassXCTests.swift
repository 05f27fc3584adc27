import Foundation
import KeychaindGcrypt
import KeychaindImport
import KeychaindTestSupport
import SecretServiceClient
import Testing

/// `keychainctl import` from the real KeePassXC, without a screen.
struct KeePassXCTests {
    @Test("the exposed group of a database becomes a keychain with its password, and the file is untouched")
    func import_database_copiesExposedGroup() async throws {
        let home = try ImportHome()
        let database = try await home.makeDatabase(isExposed: true)
        let before = try Data(contentsOf: URL(fileURLWithPath: database))
        let wrong = try await home.runImport(["--from", "keepassxc", database], password: "wrong")
        #expect(wrong.status == .exited(6), "\(wrong.errors)")
        for missing in [[home.folder.path("none.kdbx")], []] {
            #expect(try await home.runImport(["--from", "keepassxc"] + missing).status == .exited(3))
        }
        #expect(!FileManager.default.fileExists(atPath: home.folder.path("data/keychaind")))
        #expect(try home.leftovers.isEmpty)
        let first = try await home.runImport(["--from", "keepassxc", database])
        #expect(first.text.contains("2 items: 2 copied, 0 were there, 0 left; 2 verified"), "\(first.errors)")
        #expect(try home.leftovers.isEmpty)

        // As KeePassXC notes it down.
        _ = try home.folder.makeFolder("home/.cache/keepassxc")
        try home.folder.write(
            "[General]\nLastOpenedDatabases=/none.kdbx, \"\(database)\"\n",
            to: "home/.cache/keepassxc/keepassxc.ini"
        )
        let second = try await home.runImport(["--from", "keepassxc"])
        #expect(second.text.contains("2 items: 0 copied, 2 were there"), "\(second.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == before)
        let secrets = try await home.withKeychaind { client in
            for collection in try await client.collections() where try await collection.label() == "Family" {
                #expect(try await collection.unlock(with: SecureBytes(copying: Array("password".utf8))) == true)
                return try await StoredItem.all(of: collection).map { String(decoding: $0.secret, as: UTF8.self) }
            }
            return []
        }
        #expect(secrets == ["secret 1", "secret 2"])
    }

    @Test("a database that exposes no group is named, with the way out")
    func import_nothingExposed_isNotFound() async throws {
        let home = try ImportHome()
        let database = try await home.makeDatabase(isExposed: false)
        let result = try await home.runImport(["--from", "keepassxc", database])
        #expect(result.status == .exited(3), "\(result.errors)")
        #expect(result.errors.contains("exposes no group to other programs"))
        #expect(try home.leftovers.isEmpty)
    }

    @Test(
        "lists in settings of Qt",
        arguments: [
            ("/a.kdbx", ["/a.kdbx"]), ("/a.kdbx, /b.kdbx", ["/a.kdbx", "/b.kdbx"]),
            ("\"/a, b.kdbx\", /c.kdbx", ["/a, b.kdbx", "/c.kdbx"]), ("/\\xe9\\x20ac.kdbx", ["/é\u{20ac}.kdbx"]),
            ("\"/a\\\"\\\\.kdbx\"", ["/a\"\\.kdbx"]), ("@Invalid()", []), ("", []), ("\"", []), ("\\", []), ("\\x", []),
            ("\\xd83d", []), ("\\x0", []), (",,", []),
        ]
    )
    func settings_list_isRead(value: String, list: [String]) {
        #expect(QtSettings(text: "[General]\nOther=1\nList=\(value)\n[GUI]\nList=/no\n").list("List") == list)
    }
}

extension ImportHome {
    /// Lets KeePassXC make a database with two entries, whose password is `password`, and returns its path.
    fileprivate func makeDatabase(isExposed: Bool) async throws -> String {
        let path = folder.path("Family.kdbx")
        let script = """
            import base64, re, subprocess, sys, uuid
            path, is_exposed = sys.argv[1], sys.argv[2] == 'true'
            def cli(*arguments, typed):
                result = subprocess.run(['keepassxc-cli', *arguments], input=typed.encode(), capture_output=True)
                assert result.returncode == 0, result
                return result.stdout.decode()
            cli('db-create', '-q', '-p', '-t', '100', path + '.first', typed='password\\npassword\\n')
            for number in '12':
                cli('add', '-q', '-p', '-u', 'anna', path + '.first', 'Entry ' + number,
                    typed='password\\nsecret %s\\n' % number)
            # Only its window exposes a group; here it is written as it would be.
            xml = cli('export', '-q', path + '.first', typed='password\\n')
            xml = xml.replace('<DatabaseName/>', '<DatabaseName>Family</DatabaseName>', 1)
            group = base64.b64decode(re.search(r'<Root>\\s*<Group>\\s*<UUID>(.*?)</UUID>', xml).group(1))
            exposed = '<Item><Key>FDO_SECRETS_EXPOSED_GROUP</Key><Value>{%s}</Value></Item>' % uuid.UUID(bytes=group)
            if is_exposed: xml = xml.replace('<Binaries/>', '<Binaries/><CustomData>%s</CustomData>' % exposed, 1)
            open(path + '.xml', 'w').write(xml)
            cli('import', '-q', '-p', '-t', '100', path + '.xml', path, typed='password\\npassword\\n')
            """
        let result = try await Command.python(script, [path, "\(isExposed)"], environment: environment)
        #expect(result.succeeded, "\(result.errors)")
        return path
    }
}
