import CKeychaindHardeningProbe
import Glibc
import KeychaindHardening

// HardeningProbe try FOLDER: applies the filter, makes system calls and prints their results.
// HardeningProbe unfiltered FOLDER: the same without the filter.
// HardeningProbe foreign: makes a call of another architecture under the filter.
// HardeningProbe become PROGRAM…: executes another program under the filter.
let arguments = Array(CommandLine.arguments.dropFirst())
keychaind_probe_start_thread()
if arguments.first != "unfiltered" {
    do throws(SystemCallFilter.Failure) {
        try SystemCallFilter.apply()
    } catch {
        print("not filtered: \(error.reason)")
        exit(1)
    }
}
switch arguments.first {
case "foreign": _ = keychaind_probe_call_foreign()
case "become": keychaind_probe_become(arguments.dropFirst().map { strdup($0) } + [nil])
default: keychaind_probe_try_all(arguments[1])
}
