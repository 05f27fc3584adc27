import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// The installed pinentries under the daemon's filter of system calls.
@Suite(.serialized)
struct FilteredPinentryTests {
    @Test("a pinentry with windows unlocks the keychain", arguments: ["pinentry-gtk-2", "pinentry-qt"])
    func windowedPinentry_unlocks(program: String) async throws {
        let screen = try await Screen()
        let folder = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("pinentry"),
            withDestinationPath: "/usr/bin/\(program)"
        )
        var options = KeychainDaemon.Options(password: "hunter2")
        options.arguments = ["--prompters", "pinentry"]
        options.environment = screen.environment.merging(["PATH": "\(folder.path):/usr/bin:/bin", "LC_ALL": "C.UTF-8"])
        {
            $1
        }
        let service = try await RunningService(options)
        let client = service.client
        let login = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/login")
        try await client.lock([login])
        let prompt = try await client.unlock([login]).prompt
        try await client.show(prompt)
        _ = try await screen.events.first("the window") { [.focused, .keyboardGrabbed].contains($0) }
        let pinentries = try await Command.run("pgrep", ["-P", String(service.daemon.child.id)])
        for process in pinentries.text.split(separator: "\n").compactMap({ Int32($0) }) {
            #expect(try ProcessStatus(of: process).field("Seccomp") == "2")
        }
        #expect(pinentries.succeeded)
        try await screen.type("hunter2")
        try await screen.press("Return")
        #expect(try await client.completion(of: prompt).isDismissed == false)
        #expect(try await !client.isCollectionLocked(login))
        try await service.daemon.stop()
    }
}
