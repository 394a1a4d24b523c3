// The clients that create as fast as a server answers, for the bench of the servers. Nothing but Go itself.
module reeve.dev/bench/creators

go 1.26.0
