import KeychaindDBus
import KeychaindTestSupport
import SecretServiceClient
import Testing

/// The owner of the provider's name, as a client knows it.
struct OwnerTests {
    @Test
    func provider_leavesRightAfterTheReplyAboutIt_isNotCalled() async throws {
        try await leaveAfterTheReply(on: try await PrivateBus())
    }

    @BusActor
    private func leaveAfterTheReply(on bus: PrivateBus) async throws {
        let provider = try RawClient(bus.address)
        try callBus("RequestName", on: provider) { $0.append(ProviderLink.providerName, UInt32(0)) }
        let link = ProviderLink(try bus.connect(), SecretClient.Configuration(bus: .address(bus.address)))
        defer { link.close() }
        let outcomes = Recorder<SecretServiceError?>()
        bus.pause()
        defer { bus.resume() }
        BusActor.start {
            do throws(SecretServiceError) {
                _ = try await link.provider()
                outcomes.record(nil)
            } catch {
                outcomes.record(error)
            }
        }
        repeat { await BusActor.loop.wait(for: .zero) } while link.connection.bytesToSend > 0
        bus.resume()
        // Blocks the loop, which then reads the reply and the signal together.
        try callBus("ReleaseName", on: provider) { $0.append(ProviderLink.providerName) }
        #expect(try await outcomes.first("the answer")?.code == .providerUnavailable)
        #expect(link.owner == nil)
    }

    @BusActor
    private func callBus(
        _ member: String,
        on connection: RawClient,
        _ arguments: (Message) -> Void
    ) throws {
        let name = "org.freedesktop.DBus"
        let message = Message.call(to: name, ObjectPath(unchecked: "/org/freedesktop/DBus"), name, member)
        arguments(message)
        _ = try connection.call(message)
    }
}
