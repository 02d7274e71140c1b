package config

import _ "embed"

// Example is the commented loop.toml that `loop init` writes. It is itself a
// valid file, and every key in it shows its default.
//
//go:embed example.toml
var Example string
