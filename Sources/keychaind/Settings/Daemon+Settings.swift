import Glibc
import KeychaindConfiguration
import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindRights
import KeychaindSecretService
import KeychaindVault
import Logging

/// The settings and the administrators' rules.
extension Daemon {
    /// Applies the settings that can change at run time, except the lock rules.
    func applySettings() {
        var configuration = settings.configuration
        if !tpm.isUsable(configuration, in: domain) { configuration.host.tpm = HostRules().tpm }
        provider.programsAskedAtRead = ProgramSelection(configuration.access.askAtRead)
        provider.settings = ProviderSettings(
            file: settings.path ?? "",
            lines: configuration.settings.map(\.description)
        )
        // A misspelled name would protect nothing.
        let known = Set(vault.collections.map(\.name.description))
        for name in configuration.keychains.subtracting(known).sorted() {
            logger.notice(
                "The configuration has rules for a keychain that is not there",
                metadata: ["keychain": "\(name)"]
            )
        }
    }

    /// Reads the administrators' rules, before the first call is answered, and again when they change.
    func followRules() async {
        let folders = [AdministratorRules.folder] + (options.rulesDirectory.map { [$0] } ?? [])
        for folder in folders {
            let watch = FileWatch("\(folder)/*") { await readRules() }
            if await watch?.watch() == true {
                watch?.waitForChanges()
            } else {
                logger.notice(
                    "Changes of rules are not noticed before the next start",
                    metadata: ["folder": "\(folder)"]
                )
            }
        }
        await readRules()
    }

    private func readRules() async {
        provider.administratorRules = await BlockingThread.run { [options] in
            UserRights.perform {
                var rules = AdministratorRules()
                rules.read()
                if let folder = options.rulesDirectory { rules.read(folder, owner: getuid()) }
                return rules
            }
        }
    }
}
