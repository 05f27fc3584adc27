import KeychaindDBus
import KeychaindDesktop
import KeychaindTestSupport
import Testing

@Suite(.onLoop, .lockedPool) struct LoginListenerTests {
    private let taken = LoginReply(.taken).encoded
    private let refused = LoginReply(.refused).encoded

    @Test @BusActor func unlock_isAcknowledgedBeforeItIsDone() async throws {
        let fixture = try LoginFixture()
        await fixture.start()
        let login = try fixture.connect()
        login.send(LoginFrame.unlock("password").bytes)
        #expect(await login.receive() == taken)
        guard case .unlock(let password, _) = try await fixture.keychain.events.first("unlock") else {
            Issue.record("not unlocked")
            return
        }
        #expect(password == Array("password".utf8))
        fixture.end()
    }

    @Test @BusActor func start_withALoginThatWaits_hasItsPasswordTriedWhenItReturns() async throws {
        let fixture = try LoginFixture()
        let login = try fixture.connect()
        login.send(LoginFrame.unlock("early").bytes)
        await fixture.start()
        #expect(fixture.keychain.events.count == 1)
        #expect(await login.receive() == taken)
        fixture.end()
    }

    @Test @BusActor func start_withALoginThatSaysNothing_isNotHeldUpForLong() async throws {
        let fixture = try LoginFixture()
        let login = try fixture.connect()
        await fixture.start()
        #expect(fixture.keychain.events.count == 0)
        login.send(LoginFrame.unlock("late").bytes)
        #expect(await login.receive() == taken)
        fixture.end()
    }

    @Test @BusActor func start_withLoginsThatSayNothing_waitsForAllAtOnce() async throws {
        let fixture = try LoginFixture()
        let logins = try (0..<LoginListener.connectionLimit).map { _ in try fixture.connect() }
        let order = Recorder<String>()
        // One wait after the other, as one for each login would be; the event loop keeps the order.
        let waiting = Task.immediate { @BusActor in
            for _ in logins.dropFirst() { await BusActor.loop.wait(for: LoginListener.startTime) }
            order.record("one after the other")
        }
        await fixture.start()
        order.record("at once")
        await waiting.value
        #expect(order.all.first == "at once")
        for login in logins { login.send(LoginFrame.unlock("late").bytes) }
        for login in logins { #expect(await login.receive() == taken) }
        fixture.end()
    }

    @Test @BusActor func change_isAnsweredWithWhatBecameOfIt() async throws {
        let fixture = try LoginFixture()
        await fixture.start()
        let login = try fixture.connect()
        login.send(LoginFrame.change("old", to: "new").bytes)
        #expect(await login.receive() == LoginReply(.changed, collections: 2).encoded)
        #expect(fixture.keychain.events.all == [.change(Array("old".utf8), Array("new".utf8))])
        fixture.end()
    }

    @Test @BusActor func changeAndUnlock_onOneConnection_areDoneInOrder() async throws {
        let fixture = try LoginFixture()
        await fixture.start()
        let login = try fixture.connect()
        login.send(LoginFrame.change("old", to: "new").bytes)
        login.send(LoginFrame.unlock("new").bytes)
        #expect(await login.receive() == LoginReply(.changed, collections: 2).encoded)
        #expect(await login.receive() == taken)
        #expect(fixture.keychain.events.all.first == .change(Array("old".utf8), Array("new".utf8)))
        #expect(fixture.keychain.events.count == 2)
        fixture.end()
    }

    @Test @BusActor func unlock_onAConnectionWithAnother_waitsUntilThatIsDone() async throws {
        let fixture = try LoginFixture()
        await fixture.start()
        let login = try fixture.connect()
        login.send(LoginFrame.unlock("first").bytes)
        #expect(await login.receive() == taken)
        login.send(LoginFrame.unlock("second").bytes)
        let other = try fixture.connect()
        other.send(LoginFrame.unlock("other").bytes)
        #expect(await other.receive() == taken)
        #expect(passwords(fixture) == ["first", "other"])
        fixture.keychain.finish()
        #expect(await login.receive() == taken)
        _ = try await fixture.keychain.events.first("the second unlock", after: 2)
        #expect(passwords(fixture) == ["first", "other", "second"])
        fixture.end()
    }

    @Test @BusActor func requests_thatAllWait_areReadInATurnOfTheEventLoopEach() async throws {
        let fixture = try LoginFixture()
        fixture.keychain.end = .atOnce
        let login = try fixture.connect()
        let sent = (1...8).map { "password \($0)" }
        for password in sent { login.send(LoginFrame.unlock(password).bytes) }
        await fixture.start()
        #expect(passwords(fixture) == ["password 1"])
        for _ in sent { #expect(await login.receive() == taken) }
        _ = try await fixture.keychain.events.first("the last unlock", after: sent.count - 1)
        #expect(passwords(fixture) == sent)
        fixture.end()
    }

    private func passwords(_ fixture: LoginFixture) -> [String] {
        fixture.keychain.events.all.map { event in
            if case .unlock(let password, _) = event { String(decoding: password, as: UTF8.self) } else { "" }
        }
    }

    @Test @BusActor func frame_ofAnotherSize_isRefusedAndTheConnectionEnds() async throws {
        let fixture = try LoginFixture()
        await fixture.start()
        for size in [1, 2063, 2065, 150_000] {
            let login = try fixture.connect()
            login.send([UInt8](repeating: 0, count: size))
            #expect(await login.receive() == refused)
            #expect(await login.receive() == [])
        }
        #expect(fixture.keychain.events.count == 0)
        fixture.end()
    }

    @Test @BusActor func frame_withAnUnknownOperation_isRefusedAndSaidInTheLog() async throws {
        let fixture = try LoginFixture()
        await fixture.start()
        let login = try fixture.connect()
        login.send(LoginFrame(operation: [0, 0, 0, 9], password: [1]).bytes)
        #expect(await login.receive() == refused)
        #expect(fixture.log.all.contains { $0.text.contains("operation") })
        fixture.end()
    }

    @Test @BusActor func connection_thatSaysNothing_isEnded() async throws {
        let fixture = try LoginFixture(requestTime: .milliseconds(50))
        await fixture.start()
        let login = try fixture.connect()
        #expect(await login.receive() == [])
        fixture.end()
    }

    @Test @BusActor func connections_pastTheLimit_areEndedAtOnce() async throws {
        let fixture = try LoginFixture()
        await fixture.start()
        let held = try (0..<LoginListener.connectionLimit).map { _ in try fixture.connect() }
        let login = try fixture.connect()
        #expect(await login.receive() == [])
        #expect(fixture.log.all.contains { $0.text.contains("too many") })
        held[0].send(LoginFrame.unlock("password").bytes)
        #expect(await held[0].receive() == taken)
        fixture.end()
    }

    @Test @BusActor func loginThatLeavesAtOnce_isServedAllTheSame() async throws {
        let fixture = try LoginFixture()
        await fixture.start()
        do {
            let login = try fixture.connect()
            login.send(LoginFrame.change("old", to: "new").bytes)
            login.send(LoginFrame.unlock("new").bytes)
        }
        let wanted = Array("new".utf8)
        _ = try await fixture.keychain.events.first("unlock") { event in
            if case .unlock(wanted, _) = event { true } else { false }
        }
        fixture.end()
    }

    @Test @BusActor func close_endsAllConnections() async throws {
        let fixture = try LoginFixture()
        await fixture.start()
        let login = try fixture.connect()
        login.send(LoginFrame.unlock("password").bytes)
        #expect(await login.receive() == taken)
        fixture.end()
        #expect(await login.receive() == [])
    }
}
