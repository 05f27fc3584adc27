import ArgumentParser
import KeychaindCommandLine
import KeychaindLanguage
import KeychaindSwitch

struct SwitchOffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "off",
        abstract: "Restore what the switch has changed."
    )

    @OptionGroup var target: SwitchTarget

    @Flag(name: .shortAndLong, help: "Print errors only.")
    var quiet = false

    func run() async throws {
        let account = try target.account()
        let wasSwitched = try Journal(of: account) != nil
        let left = try Switch(account).off()
        if !target.all { await SessionBus.open()?.reload() }
        guard left.isEmpty else {
            let names = left.map(\.visible).joined(separator: ", ")
            throw CommandFailure(.incomplete, "all is as before, but for files that were changed since: \(names)")
        }
        guard !quiet else { return }
        Terminal.say(
            wasSwitched
                ? Text("All is as before; log out and in. Items stored since stay in keychaind.")
                : Text("Nothing was switched.")
        )
    }
}
