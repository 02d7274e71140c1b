package main

// keyMeaning says what a key of a rule asks for.
func keyMeaning(key string) string {
	switch key {
	case "cmd":
		return "the program and its subcommand"
	case "except":
		return "but not these"
	case "with":
		return "at least one of these options"
	case "without":
		return "none of these options"
	case "dry":
		return "these options make it a dry run"
	case "dry_env":
		return "these settings of the environment make it a dry run"
	case "dry_net":
		return "the dry run still reads the network"
	case "env":
		return "one of these is set in the environment"
	case "arg":
		return "an operand that looks like this"
	case "not_arg":
		return "operands that do not count"
	case "no_args":
		return "no operand"
	case "min_args":
		return "at least so many operands"
	case "url":
		return "a URL that looks like this"
	case "loopback":
		return "not when one of these options names this machine"
	case "when":
		return "and this holds"
	case "unless":
		return "and this does not hold"
	case "code":
		return "looks at code in these languages"
	case "calls":
		return "calls of these names"
	case "imports":
		return "in code that names one of these"
	case "call_args":
		return "with one of these words in the arguments"
	case "runs":
		return "what the call is given runs as a command"
	case "net":
		return "it reads the network"
	case "opaque":
		return "what it runs cannot be seen through"
	case "mention":
		return "words that count as a mention"
	case "quiet":
		return "the commands alone are no mention"
	}
	return ""
}

// undoMeaning says how far something can be taken back.
func undoMeaning(undo string) string {
	switch undo {
	case "none":
		return "cannot be undone"
	case "correction":
		return "can be followed by a correction"
	case "full":
		return "can be taken back"
	}
	return "not said"
}
