import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault

/// Grants items with the proof and the application password of a context, or authorises a change of them.
///
/// ``Unlocking`` serves the items for which these do not suffice.
@BusActor
struct ContextProving {
    private let action: ItemAction
    private let context: AuthenticationContext
    private let unlocking: Unlocking
    /// Nil if only an application password can prove something.
    private let taken: TakenProof?
    /// The maximum lifetime of grants that take an application password alone, unless the proof has a shorter one.
    private let reuse: Duration
    /// The context's count of ended proofs at the start; after a change of it, nothing is granted.
    private let endings: Int

    private var access: ItemAccess { unlocking.access }
    private var authenticator: Authenticator { unlocking.authenticator }

    /// Whether a context has a proof or a password for an action; does not use the proof.
    static func isPossible(_ action: ItemAction, in context: AuthenticationContext) -> Bool {
        switch action {
        case .use: context.hasProof || context.hasCredential
        case .change: context.allowsChanges
        default: false
        }
    }

    /// Takes the proof of a context, which may serve one call; nil if nothing can be proved.
    init?(_ action: ItemAction, in context: AuthenticationContext, unlocking: Unlocking) {
        switch action {
        case .use:
            taken = context.useProof()
            guard taken != nil || context.hasCredential else { return nil }
        case .change:
            // An authorisation is for one change, as an evaluation's dialog announced.
            taken = context.takeProofForChanges()
            guard taken != nil else { return nil }
        default:
            return nil
        }
        reuse = taken?.current?.reuse ?? context.settings.grantReuse
        self.action = action
        self.context = context
        self.unlocking = unlocking
        endings = context.endings
    }

    /// Grants or authorises the item at a path if that is possible; false if the application password is wrong.
    func prove(_ path: ObjectPath) async -> Bool {
        guard let (collection, id) = context.client.findItem(path, in: unlocking.vault) else { return true }
        guard action == .use else {
            await authorize(id, in: collection)
            return true
        }
        return await grant(id, in: collection)
    }

    /// The proof while its time lasts.
    private var proof: ContextProof { taken?.current?.proof ?? .none }

    private func grant(_ id: ItemID, in collection: Collection) async -> Bool {
        guard case .needsAuthentication(let policy) = access.verdict(on: id, in: collection, for: context.client) else {
            return true
        }
        let item = ProtectedItem(id: id, collection: collection, policy: policy)
        let requirement = await item.requirement(with: authenticator.biometry, in: unlocking.vault)
        let proof = proof
        var key: ItemKey?
        var isByPerson = true
        if proof.satisfies(requirement) {
            if item.isSealed {
                // Fails for a collection with its own password that was never unlocked beside `login`.
                guard let opened = try? await collection.itemKey(of: id, passcode: proof.passcode) else { return true }
                key = opened
            }
        } else if policy.factors.contains(.applicationPassword),
            proof.satisfies(requirement, with: .applicationPassword), let credential = context.credentialCopy
        {
            isByPerson = !ContextProof.none.satisfies(requirement, with: .applicationPassword)
            guard let opened = await open(item, with: credential, after: proof, isByPerson: isByPerson) else {
                return false
            }
            key = opened
        } else {
            return true
        }
        // To open an item takes time, in which that of the proof may be over.
        guard context.endings == endings, let reuse = isByPerson ? taken?.current?.reuse : reuse else { return true }
        access.grant(item, to: context.client, context.caller, for: reuse, key: key, isByPerson: isByPerson)
        return true
    }

    /// Opens an item with an application password, which counts as an attempt; nil if that is wrong.
    private func open(
        _ item: ProtectedItem,
        with credential: consuming SecureBytes,
        after proof: ContextProof,
        isByPerson: Bool
    ) async -> ItemKey? {
        let verifier = CredentialVerifier(of: item, passcode: proof.passcode)
        let lockout = authenticator.lockouts.keeper(ofItem: item.id, in: item.collection)
        let isRight = await lockout.attempt(credential, on: verifier) == .right
        let outcome: EvaluationOutcome =
            isRight
            ? .satisfied(Proofs(factors: .applicationPassword, keys: .applicationPassword))
            : .failed(AuthenticationError(.authenticationFailed, reason: "the password of a program is wrong"))
        authenticator.audit.authenticated(
            to: .use,
            item.id,
            in: item.collection,
            for: context.caller,
            outcome,
            isByPerson: isByPerson
        )
        return verifier.key
    }

    private func authorize(_ id: ItemID, in collection: Collection) async {
        guard !unlocking.isAllowed(.change, id, in: collection, for: context.client, context),
            let item = changeableItem(id, in: collection)
        else { return }
        let moment = access.moment(in: unlocking.vault)
        let requirement = await item.requirement(with: authenticator.biometry, in: unlocking.vault)
        let proof = proof
        guard proof.satisfies(requirement) else { return }
        var key: ItemKey?
        if item.isSealed {
            guard let opened = try? await collection.itemKey(of: id, passcode: proof.passcode) else { return }
            key = opened
        }
        guard context.endings == endings, taken?.current != nil, access.isUnchanged(item) else { return }
        let authorization = ItemAuthorization(
            item: item,
            key: key,
            parts: ItemAction.change.parts,
            context: context,
            moment: moment
        )
        context.keep(authorization)
    }

    /// A protected item that the client could change after an authentication.
    private func changeableItem(_ id: ItemID, in collection: Collection) -> ProtectedItem? {
        let policy: Policy?
        switch access.verdict(on: id, in: collection, for: context.client) {
        case .needsAuthentication(let needed): policy = needed
        case .granted: policy = collection.protection(of: id).policy
        case .open, .needsConfirmation, .unavailable: policy = nil
        }
        return policy.map { ProtectedItem(id: id, collection: collection, policy: $0) }
    }
}
