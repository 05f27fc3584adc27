import Glibc
import KeychaindForeignFiles
import KeychaindTestSupport
import Testing

/// Tables of passwords, in the forms that the programs write.
struct TableTests {
    @Test("Chromium's table gives passwords and notes")
    func chromium_givesPasswordsAndNotes() throws {
        let (items, summary) = try table(
            "\u{feff}name,url,username,password,note\r\n"
                + "Shop,https://shop/,anna,\"p\"\"w,1\",\"line 1\r\nline 2\"\r\n"
                + ",https://b/,,x,\r\n\r\n,https://c/,bert,,\r\nshort,row\r\n"
        )
        #expect(items.map(\.text) == ["p\"w,1", "line 1\r\nline 2", "x"])
        #expect(items.map(\.label) == ["Shop", "Shop (note)", "https://b/"])
        #expect(
            items[0].attributes == [
                "xdg:schema": "org.keychaind.ImportedLogin", "field": "password", "url": "https://shop/",
                "username": "anna",
            ]
        )
        #expect(items[1].attributes["field"] == "note" && items[0].keychain == "passwords")
        #expect(summary.losses.map(\.item) == ["https://c/", "record 6"])
    }

    @Test("Firefox's table gives realms and times")
    func firefox_givesRealmsAndTimes() throws {
        let items = try table(
            """
            "url","username","password","httpRealm","formActionOrigin","guid","timeCreated","timeLastUsed",\
            "timePasswordChanged"
            "https://a","anna","geheim","Area",,"{1-2}","1700000000123","1700000001000","1700000002999"

            """
        ).items
        #expect(items.map(\.text) == ["geheim"])
        #expect(items[0].created == 1_700_000_000 && items[0].modified == 1_700_000_002)
        #expect(items[0].attributes["realm"] == "Area" && items[0].attributes["guid"] == "{1-2}")
        #expect(items[0].attributes["form-action-origin"] == nil)
    }

    @Test("KeePassXC's own export gives all secrets of an entry")
    func keePassXC_realExport_isRead() async throws {
        let folder = try TemporaryFolder()
        let database = folder.path("a.kdbx")
        let run = { (arguments: [String], input: String) in
            try await Command.run(
                "keepassxc-cli",
                arguments,
                environment: ["HOME": folder.path, "QT_QPA_PLATFORM": "offscreen"],
                input: Array(input.utf8)
            )
        }
        _ = try await run(["db-create", "-p", database], "master\nmaster\n")
        let added = try await run(
            ["add", database, "Tï,t\"le", "-u", "anna", "--url", "https://a/", "--notes", "a\\nb", "-p"],
            "master\np,w\"1\n"
        )
        try #require(added.succeeded, "\(added.errors)")
        let exported = try await run(["export", "--format", "csv", database], "master\n")
        let (items, summary) = try table(exported.text)
        #expect(items.map(\.label) == ["Tï,t\"le", "Tï,t\"le (note)"])
        #expect(items.map(\.text) == ["p,w\"1", "a\nb"])
        #expect(items[0].attributes["folder"] != nil && items[0].created != nil && items[0].modified != nil)
        #expect(summary.losses.isEmpty)
    }

    @Test("Times are read as UTC")
    func keePassXC_times_areUTC() throws {
        let header = "Group,Title,Username,Password,URL,Notes,TOTP,Icon,Last Modified,Created\n"
        let times =
            [
                ("2024-02-29T23:59:59Z", 1_709_251_199), ("1970-01-01T00:00:00Z", 0),
                ("2000-03-01T00:00:00Z", 951_868_800),
                ("2024-13-01T00:00:00Z", nil), ("now", nil), ("", nil), ("99999-01-01T00:00:00Z", nil),
            ] as [(String, UInt64?)]
        for (text, seconds) in times {
            #expect(try table(header + "R,t,u,p,,,,0,\(text),\(text)\n").items[0].created == seconds, "\(text)")
        }
    }

    @Test(
        "The tables of password managers give what their programs call secret, and what is no secret as attributes",
        arguments: [
            (
                "url,username,password,totp,extra,name,grouping,fav",
                "https://a/,anna,pw,,note,A,Work,0",
                ["pw", "note"], ["username": "anna", "folder": "Work"]
            ),
            (
                "type,name,url,email,username,password,note,totp,createTime,modifyTime,vault",
                "login,A,https://a/,a@b,anna,pw,note,seed,1700000000,1700000001,Personal",
                ["pw", "note", "seed"], ["username": "anna", "email": "a@b", "folder": "Personal"]
            ),
            (
                "Title,URL,Username,Password,Notes,OTPAuth", "A,https://a/,anna,pw,note,seed",
                ["pw", "note", "seed"], ["username": "anna"]
            ),
            (
                "Title,Url,Username,Password,OTPAuth,Favorite,Archived,Tags,Notes",
                "A,https://a/,anna,pw,,false,false,t1;t2,note", ["pw", "note"], ["username": "anna", "tags": "t1;t2"]
            ),
            (
                "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp",
                "F,1,login,A,note,\"pin: 1\",0,https://a/,anna,pw,seed",
                ["note", "pin: 1", "pw", "seed"], ["username": "anna", "folder": "F"]
            ),
            (
                "username,username2,username3,title,password,note,url,category,otpUrl",
                "anna,second,,A,pw,note,https://a/,C,seed",
                ["pw", "note", "seed"], ["username": "anna", "username-2": "second", "folder": "C"]
            ),
        ]
    )
    func manager_givesAll(header: String, record: String, secrets: [String], attributes: [String: String]) throws {
        let (items, summary) = try table("\(header)\n\(record)\n")
        #expect(items.map(\.text) == secrets)
        let own = ["xdg:schema": "org.keychaind.ImportedLogin", "url": "https://a/"]
        for item in items {
            #expect(item.attributes.filter { $0.key != "field" } == attributes.merging(own) { first, _ in first })
        }
        #expect(items.allSatisfy { $0.label.hasPrefix("A") } && summary.losses.isEmpty && summary.unknown.isEmpty)
    }

    @Test("A column with an unknown name, without one, or with that of another is a secret, and is named")
    func unknownColumns_areSecretsOfTheirOwn() throws {
        let (items, summary) = try table("name,password,PIN,,password,PIN\nA,pw,1234,,old,0\nB,,5678,x,,\n")
        #expect(items.map(\.text) == ["pw", "1234", "old", "0", "5678", "x"])
        #expect(items.map { $0.attributes["field"] } == ["password", "PIN", "password 5", "PIN 6", "PIN", "column 4"])
        #expect(summary.unknown == ["PIN": 2, "PIN 6": 1, "password 5": 1, "column 4": 1] && summary.losses.isEmpty)
    }

    @Test("A quote without an end, and a record without end, are refused")
    func table_endlessRecords_areRefused() throws {
        #expect(try tableFailure("name,url,username,password\na,b,c,\"d\n") == .damaged)
        #expect(try tableFailure("name,url,username,password\n" + String(repeating: ",", count: 300)) == .tooLarge)
        let long = String(repeating: "x", count: CSVReader.maximumRecordBytes + 1)
        #expect(try tableFailure("name,url,username,password\n\"\(long)") == .tooLarge)
    }

    @Test("A table without its last line break is whole, and one cut off anywhere does not crash")
    func table_cutOff_doesNotCrash() throws {
        let folder = try TemporaryFolder()
        try folder.write("name,url,username,password,note\nA,https://a,u,\"p\"\"q\",n\nB,,u,z", to: "t.csv")
        #expect(try read(folder.path("t.csv")).items.map(\.text) == ["p\"q", "n"])
        try folder.write("name,url,username,password\nB,,u,z", to: "u.csv")
        #expect(try read(folder.path("u.csv")).items.map(\.text) == ["z"])
        try folder.tryDamaged("t.csv")
    }

    @Test("A secret that is not UTF-8 keeps its bytes")
    func table_otherEncoding_keepsBytes() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Array("name,url,username,password\nA,,u,".utf8) + [0xe4, 0xff, 0], to: "t.csv")
        #expect(try read(path).items[0].secret == [0xe4, 0xff, 0])
    }

    private func table(_ text: String) throws -> (items: [ReadItem], summary: ForeignFileSummary) {
        let folder = try TemporaryFolder()
        return try read(folder.write(text, to: "passwords.csv"))
    }

    private func tableFailure(_ text: String) throws -> ForeignFileError.Code? {
        let folder = try TemporaryFolder()
        return try failure(folder.write(text, to: "passwords.csv"))
    }
}
