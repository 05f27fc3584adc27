import KeychaindDBus
import KeychaindDesktop
import KeychaindVault

/// What the connections of one program share: their turns and limits.
///
/// It ends with the last connection and the last item of the collection in memory that the program has stored.
@BusActor
final class ProgramAccount {
    private enum Holder {
        /// A connection alone, as long as nothing else is known about its program.
        case connection(Reference<Client>)
        case program(Reference<ProgramAccounts>)
    }

    nonisolated let program: Program
    private let holder: Holder
    private var members: [ObjectIdentifier: Reference<Client>]
    /// Those of connections that have left among them, as long as they wait.
    var waitingCalls: WaitingCalls

    /// The account of a connection alone.
    init(of client: Client) {
        program = .connection(client.name)
        holder = .connection(Reference(client))
        members = [ObjectIdentifier(client): Reference(client)]
        waitingCalls = client.environment.limits.waitingCallsOfProgram
    }

    fileprivate init(of program: Program, in accounts: ProgramAccounts) {
        self.program = program
        holder = .program(Reference(accounts))
        members = [:]
        waitingCalls = accounts.limits.waitingCallsOfProgram
    }

    isolated deinit {
        if case .program(let accounts) = holder { accounts.object?.removeEnded(program) }
    }

    // MARK: Clients

    var clients: some Sequence<Client> { members.values.lazy.compactMap(\.object) }

    func count(_ part: (Client) -> Int) -> Int { clients.reduce(0) { $0 + part($1) } }

    /// Counts a client with what it has.
    func add(_ client: Client) {
        members[ObjectIdentifier(client)] = Reference(client)
    }

    func remove(_ client: Client) {
        members[ObjectIdentifier(client)] = nil
    }

    /// Whether it is that of a program, and not of a connection alone.
    var isShared: Bool {
        if case .program = holder { true } else { false }
    }
}

extension ProgramAccount: WorkProgram {
    @BusActor
    func known() async -> any WorkProgram {
        guard case .connection(let connection) = holder, let client = connection.object else { return self }
        return await client.knownAccount()
    }
}

/// The accounts of all programs that are known.
@BusActor
final class ProgramAccounts {
    private var entries: [Program: Reference<ProgramAccount>] = [:]

    fileprivate let limits: ServiceLimits

    nonisolated init(_ limits: ServiceLimits) {
        self.limits = limits
    }

    /// The account of a program, which is new if it has no connections and no items in memory.
    subscript(program: Program) -> ProgramAccount {
        if let account = entries[program]?.object { return account }
        let account = ProgramAccount(of: program, in: self)
        entries[program] = Reference(account)
        return account
    }

    fileprivate func removeEnded(_ program: Program) {
        if let entry = entries[program], entry.object == nil { entries[program] = nil }
    }
}

extension ServiceLimits {
    /// As many bytes as of one connection: with twice as many libdbus would read no more.
    fileprivate var waitingCallsOfProgram: WaitingCalls {
        WaitingCalls(limit: waitingCalls * timesForProgram, byteLimit: waitingBytes)
    }
}

/// A reference that keeps nothing alive.
private struct Reference<Object: AnyObject> {
    private(set) weak var object: Object?

    init(_ object: Object) {
        self.object = object
    }
}
