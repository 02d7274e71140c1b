package firewall

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-b23e517c/loop/policy"
)

func settingsFile(t *testing.T, text string) PromptFile {
	t.Helper()
	dir := t.TempDir()
	f := PromptFile{Path: filepath.Join(dir, ".claude", "settings.json"), Backup: filepath.Join(dir, "state"), Mode: 0o600}
	if text != "" {
		if err := os.Mkdir(filepath.Dir(f.Path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.Path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func install(t *testing.T, f PromptFile, l policy.Level) {
	t.Helper()
	if changed, err := f.Install(promptHook(l)); err != nil || !changed {
		t.Fatalf("install: %v, %v", changed, err)
	}
}

func uninstall(t *testing.T, f PromptFile, want Undone) {
	t.Helper()
	if got, err := f.Uninstall(); err != nil || got != want {
		t.Fatalf("uninstall: %d, %v, want %d", got, err, want)
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestInstallAndBack(t *testing.T) {
	for name, before := range someSettings {
		f := settingsFile(t, before)
		install(t, f, policy.Interactive)
		with := text(t, f.Path)
		if changed, err := f.Install(promptHook(policy.Interactive)); changed || err != nil {
			t.Errorf("%s: a second time: %v, %v", name, changed, err)
		}
		install(t, f, policy.Lockdown)
		install(t, f, policy.Interactive)
		if got := text(t, f.Path); got != with {
			t.Errorf("%s: another level and back is not the same:\n%s", name, got)
		}
		info, err := os.Stat(f.Path)
		if err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
		uninstall(t, f, PutBack)
		if got := text(t, f.Path); got != before {
			t.Errorf("%s: put back as %q", name, got)
		}
		uninstall(t, f, NothingThere)
		if left, _ := os.ReadDir(f.Backup); len(left) > 0 {
			t.Errorf("%s: left %v", name, left)
		}
		if left, _ := os.ReadDir(filepath.Dir(f.Path)); len(left) != 1 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}

func TestInstallMakesAndRemovesTheFile(t *testing.T) {
	f := settingsFile(t, "")
	install(t, f, policy.Unattended)
	info, err := os.Stat(f.Path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	uninstall(t, f, FileRemoved)
	if _, err := os.Stat(filepath.Dir(f.Path)); err == nil {
		t.Error("the folder that was made is still there")
	}
}

func TestFolderWithOtherThingsStays(t *testing.T) {
	f := settingsFile(t, "")
	install(t, f, policy.Unattended)
	other := filepath.Join(filepath.Dir(f.Path), "CLAUDE.md")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	uninstall(t, f, FileRemoved)
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

func TestUninstallKeepsWhatWasChangedSince(t *testing.T) {
	before := "{\n  \"model\": \"opus\"\n}\n"
	f := settingsFile(t, before)
	install(t, f, policy.Interactive)
	changed := strings.Replace(text(t, f.Path), `"opus"`, `"haiku"`, 1)
	if err := os.WriteFile(f.Path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	uninstall(t, f, EntryRemoved)
	if got, want := text(t, f.Path), strings.Replace(before, "opus", "haiku", 1); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// After a change of the person's, another level must not bring the old text
// back when it is taken out.
func TestReinstallAfterAChangeKeepsTheChange(t *testing.T) {
	f := settingsFile(t, "{\n  \"model\": \"opus\"\n}\n")
	install(t, f, policy.Interactive)
	if err := os.WriteFile(f.Path, []byte(strings.Replace(text(t, f.Path), "opus", "haiku", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	install(t, f, policy.Lockdown)
	uninstall(t, f, PutBack)
	if got := text(t, f.Path); got != "{\n  \"model\": \"haiku\"\n}\n" {
		t.Errorf("put back %q", got)
	}
}

func TestUninstallWithoutItsBackup(t *testing.T) {
	f := settingsFile(t, "{\n  \"model\": \"opus\"\n}\n")
	install(t, f, policy.Interactive)
	f.Backup = t.TempDir()
	uninstall(t, f, EntryRemoved)
	if got := text(t, f.Path); got != "{\n  \"model\": \"opus\"\n}\n" {
		t.Errorf("got %q", got)
	}
}

func TestLinksAreFollowed(t *testing.T) {
	f := settingsFile(t, "{}\n")
	dotfiles := filepath.Join(t.TempDir(), "settings.json")
	if err := os.Rename(f.Path, dotfiles); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dotfiles, f.Path); err != nil {
		t.Skip(err)
	}
	install(t, f, policy.Interactive)
	if info, err := os.Lstat(f.Path); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if !strings.Contains(text(t, dotfiles), "PreToolUse") {
		t.Error("the hook is not where the link leads")
	}
	uninstall(t, f, PutBack)
	if got := text(t, dotfiles); got != "{}\n" {
		t.Errorf("put back %q", got)
	}
}

func TestLinkToNothingIsFilledAndEmptied(t *testing.T) {
	f := settingsFile(t, "{}\n")
	if err := os.Remove(f.Path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.json", f.Path); err != nil {
		t.Skip(err)
	}
	install(t, f, policy.Interactive)
	uninstall(t, f, FileRemoved)
	if to, err := os.Readlink(f.Path); err != nil || to != "real.json" {
		t.Errorf("the link: %q, %v", to, err)
	}
}

func TestLinksInACircleAreRefused(t *testing.T) {
	f := settingsFile(t, "{}\n")
	if err := os.Remove(f.Path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(f.Path, f.Path); err != nil {
		t.Skip(err)
	}
	if _, err := f.Install(promptHook(policy.Interactive)); err == nil || !strings.Contains(err.Error(), "links") {
		t.Errorf("got %v", err)
	}
}

func TestBrokenSettingsAreLeftAlone(t *testing.T) {
	const broken = "{\n  \"a\": 1\n  \"b\": 2\n}\n"
	f := settingsFile(t, broken)
	_, err := f.Install(promptHook(policy.Interactive))
	if err == nil || !strings.Contains(err.Error(), f.Path) || !strings.Contains(err.Error(), "line 3, column 3") {
		t.Errorf("got %v", err)
	}
	if got := text(t, f.Path); got != broken {
		t.Errorf("it is %q now", got)
	}
	if left, _ := os.ReadDir(f.Backup); len(left) > 0 {
		t.Errorf("kept %v", left)
	}
}

// The client writes its settings too: what it wrote just now is not lost.
func TestFileThatChangedMeanwhileIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(path, []byte("old"), []byte("ours"), 0o600); err == nil {
		t.Error("it was replaced")
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); text(t, path) != "new" || len(left) != 1 {
		t.Errorf("it is %q, beside %v", text(t, path), left)
	}
}
