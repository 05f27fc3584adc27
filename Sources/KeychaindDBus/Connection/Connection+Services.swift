/// Programs that serve this process under well-known names, such as the desktop's prompter.
///
/// Any program can take a name that is free. So each owner is examined, and called by its unique name: the well-known
/// one can change hands before a call arrives.
extension Connection {
    /// The unique name of the program that serves under a name; nil if there is none.
    ///
    /// Throws `AccessDenied` for a program that may not serve this process.
    package func service(_ name: String, timeout: Duration? = .seconds(25)) async throws(BusError) -> String? {
        guard let owner = try await owner(of: name, timeout: timeout) else { return nil }
        if let objection = await objectionToService?(owner) {
            throw BusError(.accessDenied, "\(owner) may not serve as \(name): \(objection)")
        }
        return owner
    }

    /// Whether a name has a service, or one that can be activated; false if the bus does not reply.
    package func hasService(_ name: String) async -> Bool {
        do throws(BusError) {
            if try await service(name) != nil { return true }
        } catch {
            // The service that could be activated does not get the name.
            if error.name == .accessDenied { return false }
        }
        let names = try? await call(makeBusCall("ListActivatableNames")).read([String].self)
        return names?.contains(name) == true
    }

    /// Calls the handler with the unique name of the program that serves under a name, and then with every new one.
    ///
    /// Nil means that there is none: the name has no owner, or one that may not serve this process. The handler never
    /// gets the same twice in a row. The first call comes once the first owner has been examined.
    package func followService(_ name: String, _ handler: @escaping @BusActor (_ service: String?) -> Void) {
        var newest: String?
        var told: String??
        let tell: @BusActor (String?) -> Void = { service in
            guard told != .some(service) else { return }
            told = .some(service)
            handler(service)
        }
        followOwner(of: name) { [weak self] owner in
            newest = owner
            if told != nil || owner == nil { tell(nil) }
            guard let owner else { return }
            BusActor.start { [weak self] in
                let isAdmitted = await self?.objectionToService?(owner) == nil
                // Another may have the name by now.
                if newest == owner { tell(isAdmitted ? owner : nil) }
            }
        }
    }
}
