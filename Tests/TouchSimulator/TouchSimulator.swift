import Foundation
import KeychaindTestSupport

/// A virtual fingerprint reader and a finger, with the menu of a simulator.
@main
struct TouchSimulator {
    private let reader: VirtualReader
    private var isEnrolled = false

    static func main() async {
        let interrupts = endOnInterrupts()
        defer { interrupts.cancel() }
        do {
            var simulator = TouchSimulator(reader: try await VirtualReader())
            await simulator.run()
            exit(0)
        } catch {
            print("The reader could not be started: \(error)")
            exit(1)
        }
    }

    /// An exit stops the child processes; a signal alone does not.
    private static func endOnInterrupts() -> any DispatchSourceSignal {
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler { exit(130) }
        source.resume()
        return source
    }

    private init(reader: VirtualReader) {
        self.reader = reader
    }

    private mutating func run() async {
        print(
            """
            A virtual fingerprint reader is running. To use it, set:

            export DBUS_SYSTEM_BUS_ADDRESS=\(reader.bus.address)

            Touch ID:  e  enrolled or not   m  matching touch   n  non-matching touch   q  quit
            """
        )
        while let command = ask() {
            do {
                switch command {
                case "e": try await changeEnrolment()
                case "m": try await touch("owner", "A matching touch.")
                case "n": try await touch("stranger", "A touch that does not match.")
                case "q": return
                default: continue
                }
            } catch {
                print("Failed: \(error)")
            }
        }
    }

    private func ask() -> String? {
        print(isEnrolled ? "enrolled> " : "not enrolled> ", terminator: "")
        fflush(nil)
        return readLine()
    }

    private mutating func changeEnrolment() async throws {
        if isEnrolled {
            try await reader.delete()
        } else {
            try await reader.enrol(as: "owner")
        }
        isEnrolled.toggle()
    }

    private func touch(_ finger: String, _ message: String) async throws {
        print("Waiting for a program that asks for a finger.")
        try await reader.touch(finger)
        print(message)
    }
}
