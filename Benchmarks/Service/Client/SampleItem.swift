import KeychaindDBus

/// A sample item: five attributes of a hundred bytes in all and a secret of 32 bytes, distinguished by a number.
struct SampleItem {
    let number: Int

    /// The attribute that only this item has.
    var account: [String: String] { ["account": "user-\(number)"] }

    /// The attributes that all items have.
    static let common = ["xdg:schema": "org.example.Password"]

    var attributes: [String: String] {
        [
            "account": "user-\(number)", "server": "host-\(number % 50).example.org", "protocol": "https",
            "port": "443", "xdg:schema": "org.example.Password",
        ]
    }

    var label: String { "Password of user \(number)" }

    var secret: [UInt8] {
        let digits = String(number)
        return Array(("a secret of 32 bytes, " + String(repeating: "0", count: 10 - digits.count) + digits).utf8)
    }
}
