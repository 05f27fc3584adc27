import KeychaindAuthentication
import Testing

struct PrompterNameTests {
    @Test(
        arguments: [
            ("gcr", [.gcr]), ("tty,pinentry,gcr,kde", [.tty, .pinentry, .gcr, .kde]), ("none", []),
            ("gcr,none", [.gcr]), ("gcr,none,tty", [.gcr]),
        ] as [(String, [PrompterName])]
    )
    func order_names_isTheirOrder(text: String, order: [PrompterName]) {
        #expect(PrompterName.order(text) == order)
    }

    @Test(arguments: ["", ",", "gcr,", "gcr, tty", "GCR", "gcr,gcr", "none,none", "gcr;tty", "curses"])
    func order_somethingElse_isNil(text: String) {
        #expect(PrompterName.order(text) == nil)
    }
}
