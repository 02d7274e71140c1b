package runner

import (
	"context"
	"strconv"
	"strings"

	"github.com/seed-b23e517c/loop/queue"
)

// commitMessages are what the commits say that lead to head and not to base, as
// far as no remote branch known here has them.
func commitMessages(ctx context.Context, o *Options, head, base string) []string {
	if head == "" || head == base {
		return nil
	}
	args := []string{"log", "--no-show-signature", "--max-count=200", "--format=%B%x00", head, "--not", "--remotes"}
	if base != "" {
		args = append(args, base)
	}
	return messages(ctx, o, append(args, "--")...)
}

// messagesBeside are the texts that git keeps beside the branch and that are not
// older than an attempt, by the dates that they bear: of tags, of notes, and of
// commits that the work tree was at and that it has left.
func messagesBeside(ctx context.Context, o *Options, a *queue.Attempt) []string {
	since := a.Started.Unix()
	texts := dated(since, messages(ctx, o, "for-each-ref", "--count=200", "--sort=-creatordate", "--format=%(creatordate:unix)%0a%(contents)%00", "refs/tags"))
	texts = append(texts, dated(since, messages(ctx, o, "log", "-p", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--max-count=200",
		"--format=%x00%ct%n%B", "--glob=refs/notes/*", "--"))...)
	left := dated(since, messages(ctx, o, "log", "-g", "--max-count=200", "--format=%ct%n%H%x00", "HEAD", "--"))
	if len(left) == 0 {
		return texts
	}
	args := []string{"log", "--no-show-signature", "--max-count=200", "--since=" + strconv.FormatInt(since, 10), "--format=%B%x00"}
	for _, hash := range left {
		args = append(args, strings.TrimSpace(hash))
	}
	args = append(args, "--not", "--remotes")
	if a.HeadBefore != "" {
		args = append(args, a.HeadBefore)
	}
	return append(texts, messages(ctx, o, append(args, "--")...)...)
}

// dated are the texts that begin with a line that is a time, and not an earlier
// one, without it.
func dated(since int64, texts []string) (late []string) {
	for _, text := range texts {
		date, rest, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n")
		if sec, err := strconv.ParseInt(date, 10, 64); err == nil && sec >= since {
			late = append(late, rest)
		}
	}
	return late
}

// messages are the texts that git prints, none when it fails.
func messages(ctx context.Context, o *Options, args ...string) []string {
	texts, ok := gitTexts(ctx, o, 1<<20, args...)
	if !ok {
		return nil
	}
	return texts
}
