import KeychaindAuthentication
import KeychaindDBus

/// Trusts dialogs as the test says.
@BusActor
final class TrustJudge: PrompterInspector {
    var verdict = PrompterTrust.passwordsOnly(reason: "the test says so")

    func trust(in prompter: PrompterProcess) async -> PrompterTrust { verdict }
}
