package import KeychaindAuthentication
package import KeychaindDBus
package import KeychaindGcrypt
package import Logging

/// The keys that are plugged in, each operation in a helper process.
@BusActor
package final class PluggedSecurityKeys: SecurityKeys {
    /// A folder of sockets that are keys; empty for the system's keys.
    package var folder = ""

    private let logger: Logger
    private var helpers: [ObjectIdentifier: HelperProcess] = [:]

    package nonisolated init(logger: Logger) {
        self.logger = logger
    }

    package func start(
        _ request: SecurityKeyRequest,
        pin: consuming SecureBytes?,
        notice: @escaping @BusActor (SecurityKeyFailure) -> Void
    ) -> any SecurityKeyOperation {
        let helper = HelperProcess(logger: logger, notice: notice)
        helpers[ObjectIdentifier(helper)] = helper
        helper.onReaped = { [weak self, weak helper] in
            guard let self, let helper else { return }
            helpers[ObjectIdentifier(helper)] = nil
        }
        helper.start(HelperRequest(request: request, folder: folder), pin: pin)
        return helper
    }

    /// Cancels all operations at the exit of the daemon.
    package func close() {
        for helper in helpers.values { helper.cancel() }
    }
}
