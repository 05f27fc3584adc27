import Glibc
import KeychaindCommandLine
import Testing

// A process of its own, as its signals are sent to it; one that is not noticed ends it by SIGALRM.
@Suite struct InterruptionTests {
    @Test("A signal at the first line of a command is noticed, also by the next command of the process")
    func cancelling_signalAtOnce_isNoticed() async {
        await #expect(processExitsWith: .success) {
            alarm(60)
            var pipeEnds: [Int32] = [-1, -1]
            try #require(pipe(&pipeEnds) == 0)
            let silent = pipeEnds[0]
            for number in [SIGINT, SIGINT, SIGTERM, SIGHUP] {
                let failure = await #expect(throws: CommandFailure.self) {
                    try await Interruption.cancelling { interruption in
                        kill(getpid(), number)
                        try interruption.waitForInput(silent)
                    }
                }
                #expect(failure?.status == .cancelled)
            }
        }
    }
}
