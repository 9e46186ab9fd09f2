//! SIGKILL in a loop under load, source and follower in turn.

#[test]
fn twenty_kills_lose_nothing() {
    interop::kill_loop(20, 8).unwrap();
}
