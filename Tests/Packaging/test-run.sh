# shellcheck shell=bash disable=SC2154
# scripts/run, the last step of make run: stores and looks up without a terminal, and ends on Ctrl-C.

own_home
said=$work/run.log

# start_run: in the background, but with the SIGINT of a foreground job
start_run() {
    : >"$said"
    env --default-signal=INT setsid "$project/scripts/run" >"$said" 2>&1 &
    run_pid=$!
    daemon_pid=$run_pid
    eventually grep -q '^Ctrl-C ends it' "$said"
}

# end_run: as Ctrl-C does, to the whole process group
end_run() {
    kill -INT -- "-$run_pid"
    status=0
    wait "$run_pid" || status=$?
    daemon_pid=''
}

check "it stores, looks up and serves" start_run || cat "$said"
check_equal "what was looked up is shown" "$(grep -c 'nobody else knows' "$said")" 2
check_match "without a session bus it has its own" "$(<"$said")" 'bus +its own, for there is no session bus'
address=$(sed -n "s/.*DBUS_SESSION_BUS_ADDRESS='\(.*\)'/\1/p" "$said")
found=$(DBUS_SESSION_BUS_ADDRESS=$address secret-tool lookup application keychaind-demo || true)
check_match "another terminal can look it up" "$found" 'nobody else knows'
check_equal "the real keychain is not touched" "$(ls "$XDG_DATA_HOME")" keychaind-demo
check_equal "its folder is private" "$(stat --format=%a "$XDG_DATA_HOME/keychaind-demo")" 700
check_equal "its password is private" "$(stat --format=%a "$XDG_DATA_HOME/keychaind-demo/password")" 600
end_run
check_equal "Ctrl-C is a clean end" "$status" 0
check "no process is left" eventually bash -c "! pgrep -g $run_pid && ! pgrep -s $run_pid"

own_bus
check "it starts again" start_run
check_match "a free session bus is used" "$(<"$said")" 'bus +your session bus'
end_run

check "a provider on the session bus" start_daemon
provider=$daemon_pid
check "it starts beside a provider" start_run
check_match "it says who that is" "$(<"$said")" "there is a provider: .*process $provider"
end_run
daemon_pid=$provider
check "the provider is left alone" owns_name "$provider"
