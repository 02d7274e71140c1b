package shell

import (
	"slices"
	"strings"
)

// xargs runs its command with words from its input.
func xargs(w *walker, c Command, in input) (output, bool) {
	wr := wrapper{value: "-a -d -E -I -J -L -n -P -R -s -S --arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var"}
	p := wr.parseArgs(c.Argv)
	if len(p.cmd) == 0 {
		return output{}, false
	}
	mark := p.values["-I"].Text + p.values["-J"].Text
	for _, a := range c.Argv[1:p.end] {
		switch {
		case strings.HasPrefix(a.Text, "--replace"):
			_, mark, _ = strings.Cut(a.Text, "=")
			mark = orText(mark, "{}")
		case strings.HasPrefix(a.Text, "-i"):
			mark = orText(a.Text[2:], "{}")
		}
	}
	if f, ok := p.values["-a"]; ok {
		in = input{Input: Input{Kind: InputFile, From: f.Text}}
		if text, ok := w.st.file(f.Text); ok {
			in.Known, in.Text = true, text
		}
	}
	c.Stdin = Input{}
	name := label(c.Argv, p.end, Word{})
	if mark == "" {
		for _, items := range batches(itemsOf(in, p.values), p.values) {
			w.again(c, slices.Concat(p.cmd, items), name, input{})
		}
		return output{}, true
	}
	lines := []Word{unknownInput(in)}
	if in.Known {
		lines = nil
		for line := range strings.SplitSeq(strings.Trim(in.Text, "\n"), "\n") {
			lines = append(lines, Word{Text: strings.TrimSpace(line), Dynamic: in.word.Dynamic, Subst: in.word.Subst})
		}
	}
	for _, line := range capItems(lines, in) {
		w.again(c, replaceMark(p.cmd, mark, line), name, input{})
	}
	return output{}, true
}

// batches cuts the items of xargs -n and -L into the words of each run.
func batches(items []Word, values map[string]Word) [][]Word {
	n := max(atoi(values["-n"].Text), atoi(values["--max-args"].Text), atoi(values["-L"].Text))
	if n <= 0 || len(items) <= n || len(items)/n > maxItems {
		return [][]Word{items}
	}
	return slices.Collect(slices.Chunk(items, n))
}

// itemsOf are the words that xargs appends.
func itemsOf(in input, values map[string]Word) []Word {
	if !in.Known {
		return []Word{unknownInput(in)}
	}
	fields := splitWords(in.Text)
	if strings.Contains(in.Text, "\x00") {
		fields = strings.Split(strings.Trim(in.Text, "\x00"), "\x00")
	}
	if d, ok := values["-d"]; ok && d.Text != "" {
		fields = strings.Split(strings.TrimSuffix(in.Text, "\n"), ansiC(d.Text)[:1])
	}
	var out []Word
	for _, f := range fields {
		out = append(out, Word{Text: f, Dynamic: in.word.Dynamic, Subst: in.word.Subst})
	}
	return out
}

// unknownInput stands for words that come from an input that is not known: it
// is written as the substitution that would give the same words.
func unknownInput(in input) Word {
	src := "$(cat)"
	switch {
	case in.Kind == InputPipe:
		src = "$(" + in.From + ")"
	case in.Kind == InputFile:
		src = "$(<" + in.From + ")"
	}
	return Word{Text: src, Dynamic: true, Subst: true}
}

// capItems keeps the first items; an unknown one stands for the rest.
func capItems(items []Word, in input) []Word {
	if len(items) <= maxItems {
		return items
	}
	return append(items[:maxItems:maxItems], unknownInput(in))
}

func replaceMark(argv []Word, mark string, val Word) []Word {
	out := slices.Clone(argv)
	for i, a := range out {
		if strings.Contains(a.Text, mark) {
			out[i].Text = strings.ReplaceAll(a.Text, mark, val.Text)
			out[i].Dynamic = a.Dynamic || val.Dynamic
			out[i].Subst = a.Subst || val.Subst
		}
	}
	return out
}

func orText(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// parallel is GNU parallel: a command template, then ::: and values; without a
// template each line of input is a command.
func parallel(w *walker, c Command, in input) (output, bool) {
	wr := wrapper{value: "-j -P -N -n -L -I -a -C -d -s -S -E --jobs --max-procs --max-args --max-replace-args --colsep --delimiter --delay --joblog --results --timeout --retries --tmpdir --halt --load --memfree --sshlogin --wd --workdir --env --tagstring --arg-file --arg-sep --nice --basefile --return --profile --block --recstart --recend --shellquote"}
	p := wr.parseArgs(c.Argv)
	cmd, values := p.cmd, []Word(nil)
	for i, a := range p.cmd {
		if hasFlag(":::  ::::  :::+ ::::+", a.Text) {
			cmd, values = p.cmd[:i], p.cmd[i+1:]
			if strings.HasPrefix(a.Text, "::::") {
				values = []Word{unknown("$(<" + joinWords(values).Text + ")")}
			}
			break
		}
	}
	for _, a := range c.Argv[1 : len(c.Argv)-len(p.cmd)] {
		if hasFlag("--dry-run --dryrun", a.Text) {
			return output{}, false // it prints the commands
		}
	}
	name := "parallel"
	if values == nil {
		values = []Word{unknownInput(in)}
		if in.Known {
			values = nil
			for line := range strings.SplitSeq(strings.Trim(in.Text, "\n"), "\n") {
				values = append(values, Word{Text: line, Dynamic: in.word.Dynamic, Subst: in.word.Subst})
			}
		}
	}
	c.Stdin = Input{}
	if len(cmd) == 0 && !in.Known && len(p.cmd) == 0 {
		c.Opaque = "runs each line of its input"
		return output{}, false
	}
	template := joinWords(cmd)
	mark := orText(p.values["-I"].Text, "{")
	for _, v := range capItems(values, in) {
		code := template
		switch {
		case template.Text == "":
			code = v
		case strings.Contains(template.Text, mark):
			code = replaceMark([]Word{template}, orText(p.values["-I"].Text, "{}"), v)[0]
		default:
			code = joinWords([]Word{template, v})
		}
		w.codeOf(c, code, name, w.st.child(), input{})
	}
	return output{}, true
}
