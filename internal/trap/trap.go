package trap

// Command is argument 0 of a process that is to call Become.
const Command = "trapped"
