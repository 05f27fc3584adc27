# shellcheck shell=bash disable=SC2154
# scripts/run, used by make run: stores and looks up a secret without a terminal, and ends on Ctrl-C.

own_home
said=$work/run.log

# start_run: starts it in the background, with the SIGINT handling of a foreground job
start_run() {
    : >"$said"
    env --default-signal=INT setsid "$project/scripts/run" >"$said" 2>&1 &
    run_pid=$!
    daemon_pid=$run_pid
    eventually grep -q '^Ctrl-C ends it' "$said"
}

# nothing_is_left: waits until no process of the run is left
nothing_is_left() { eventually bash -c "! pgrep -g $run_pid && ! pgrep -s $run_pid"; }

# end_run: sends SIGINT to the process group, as Ctrl-C does
end_run() {
    kill -INT -- "-$run_pid"
    status=0
    wait "$run_pid" || status=$?
    daemon_pid=''
}

check "it stores and looks up a secret and serves" start_run || cat "$said"
check_equal "it prints the stored and the looked-up secret" "$(grep -c 'only this keychain knows' "$said")" 2
check_match "without a session bus it uses a private one" "$(<"$said")" 'bus +private: there is no session bus'
address=$(sed -n "s/.*DBUS_SESSION_BUS_ADDRESS='\(.*\)'/\1/p" "$said")
found=$(DBUS_SESSION_BUS_ADDRESS=$address secret-tool lookup application keychaind-demo || true)
check_match "another terminal can look it up" "$found" 'only this keychain knows'
check_equal "the real keychain is not touched" "$(ls "$XDG_DATA_HOME")" keychaind-demo
check_equal "the demonstration folder is private" "$(stat --format=%a "$XDG_DATA_HOME/keychaind-demo")" 700
check_equal "the password file is private" "$(stat --format=%a "$XDG_DATA_HOME/keychaind-demo/password")" 600
end_run
check_equal "Ctrl-C ends it with status 0" "$status" 0
check "no process is left" nothing_is_left

# check_killed SIGNAL BUS: kills the script alone, not its process group
check_killed() {
    check "it starts before SIG$1, on $2" start_run
    kill "-$1" "$run_pid"
    wait "$run_pid" 2>"$work/said" || true
    check "SIG$1 of the script leaves no process on $2" nothing_is_left
    daemon_pid=''
}

check_killed KILL "a private bus"

own_bus
check "it starts again" start_run
check_match "it uses a session bus without a provider" "$(<"$said")" 'bus +your session bus'
end_run
for signal in TERM HUP KILL; do check_killed "$signal" "the session bus"; done

check "a provider starts on the session bus" start_daemon
provider=$daemon_pid
check "it starts beside a provider" start_run
check_match "it names the other provider" "$(<"$said")" "has a provider: .*process $provider"
end_run
daemon_pid=$provider
check "the other provider keeps its name" owns_name "$provider"
