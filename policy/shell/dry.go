package shell

func (r *reader) dryRun(string) {}
