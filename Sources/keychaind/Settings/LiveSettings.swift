import KeychaindConfiguration
import KeychaindDBus
import KeychaindDesktop
import KeychaindRights
import Logging

/// The user's settings: read at the start, and again when the file changes.
@BusActor
final class LiveSettings {
    /// The settings in force.
    private(set) var configuration = Configuration()

    /// The file; nil without a home folder.
    let path: String?

    private let logger: Logger
    private let report: @BusActor ([String], String) -> Void
    private var content = ConfigurationFile.Content.missing
    private var watch: FileWatch?
    private var onChange: (@BusActor () -> Void)?
    private var reading = Reading.idle
    private let looks = FileWatch.makeLooks()
    /// Reads again after a disk has not answered, or there was no thread to ask it.
    private var retry: Timer?

    private static let pause = Duration.seconds(30)

    private enum Reading {
        case idle
        case running
        /// The file may have changed since the reading began.
        case outdated
    }

    /// - Parameter report: gets the mistakes, each with its place, and the path, whenever the file has other content.
    init(logger: Logger, report: @escaping @BusActor ([String], String) -> Void) {
        path = ConfigurationFile.standardPath
        self.logger = logger
        self.report = report
    }

    /// Reads the file for the first time.
    func load() async {
        guard let path else { return }
        // Before the file is read, so that no change is missed.
        watch = FileWatch(path) { [weak self] in await self?.reload() }
        if await watch?.watch() != true {
            logger.notice(
                "Changes of the configuration are not noticed; send SIGHUP after one",
                metadata: ["file": "\(path)"]
            )
        }
        content = await read(path)
        configuration = apply(content, of: path)
    }

    /// Applies later changes, and says so with `onChange`.
    func follow(_ onChange: @escaping @BusActor () -> Void) {
        self.onChange = onChange
        watch?.waitForChanges()
        // What has changed since the first reading.
        BusActor.start { [self] in await reload() }
    }

    /// Reads the file again and applies what can change at run time, once changes are followed.
    func reload() async {
        guard let path, let onChange else { return }
        guard case .idle = reading else {
            reading = .outdated
            return
        }
        defer { reading = .idle }
        repeat {
            reading = .running
            let content = await read(path)
            guard content != self.content else { continue }
            self.content = content
            var new = apply(content, of: path)
            if new.host != configuration.host || new.securityKeyFolder != configuration.securityKeyFolder {
                logger.notice("The settings of [host] and [security-key] take effect after a restart")
                new.host = configuration.host
                new.securityKeyFolder = configuration.securityKeyFolder
            }
            logger.notice("The configuration has changed", metadata: ["file": "\(path)"])
            guard new != configuration else { continue }
            configuration = new
            onChange()
        } while reading == .outdated
    }

    /// The content; without an answer of the disk in time, the file cannot be read, and is read again later.
    private func read(_ path: String) async -> ConfigurationFile.Content {
        if let content = await looks.run({ UserRights.perform { ConfigurationFile.read(path) } }) { return content }
        if retry == nil {
            retry = BusActor.loop.schedule(after: LiveSettings.pause) { [weak self] in
                guard let self else { return }
                retry = nil
                BusActor.start {
                    _ = await self.watch?.watch()
                    await self.reload()
                }
            }
        }
        return .unreadable(reason: "its disk does not answer, or the system has no thread to ask it")
    }

    /// The settings in a content; logs and reports its mistakes.
    private func apply(_ content: ConfigurationFile.Content, of path: String) -> Configuration {
        switch content {
        case .missing:
            report([], path)
            return Configuration()
        case .unreadable(let reason):
            logger.error(
                "The configuration cannot be read; keychains lock with the screen and before sleep",
                metadata: ["file": "\(path)", "reason": "\(reason)"]
            )
            report(["\(path): \(reason)"], path)
            return .unreadable
        case .text(let text):
            let reading = ConfigurationReading(of: text)
            let problems = reading.mistakes.map { "\(path):\($0)" }
            for problem in problems {
                logger.error("The configuration has a mistake, the rest of it is in force: \(problem)")
            }
            report(problems, path)
            return reading.configuration
        }
    }
}
