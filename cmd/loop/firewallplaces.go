package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/seed-b23e517c/loop/firewall"
	"github.com/seed-b23e517c/loop/internal/term"
	"github.com/seed-b23e517c/loop/internal/workspace"
)

// The places where the client reads settings.
const (
	placeUser    = "user"
	placeProject = "project"
	placeLocal   = "local"
	placeManaged = "managed"
)

// settingsPlace is one settings file of the client's.
type settingsPlace struct {
	name string
	file firewall.PromptFile
}

// settingsRead is what stands in it.
type settingsRead struct {
	settingsPlace
	there    bool
	settings firewall.PromptSettings
	err      error // it cannot be read
}

// settingsPlaces are the files in which hooks can be given or switched off,
// the one that counts most first.
type settingsPlaces []settingsPlace

func (a *app) settingsPlaces(w workspace.Workspace) (settingsPlaces, error) {
	state, err := a.stateHome()
	if err != nil {
		return nil, err
	}
	user, err := a.clientFolder()
	if err != nil {
		return nil, err
	}
	file := func(mode fs.FileMode, parts ...string) firewall.PromptFile {
		return firewall.PromptFile{Path: filepath.Join(parts...), Backup: filepath.Join(state, "firewall"), Mode: mode}
	}
	var places settingsPlaces
	for _, path := range managedSettings() {
		places = append(places, settingsPlace{placeManaged, file(0o600, path)})
	}
	return append(places,
		settingsPlace{placeLocal, file(0o600, w.Root, ".claude", "settings.local.json")},
		settingsPlace{placeProject, file(0o644, w.Root, ".claude", "settings.json")},
		settingsPlace{placeUser, file(0o600, user, "settings.json")},
	), nil
}

// managedSettings are the files of whoever administers the machine.
func managedSettings() []string {
	dir := "/etc/claude-code"
	switch runtime.GOOS {
	case "darwin":
		dir = "/Library/Application Support/ClaudeCode"
	case "windows":
		dir = `C:\Program Files\ClaudeCode`
	}
	more, _ := filepath.Glob(filepath.Join(dir, "managed-settings.d", "*.json"))
	return append(more, filepath.Join(dir, "managed-settings.json"))
}

func (p settingsPlaces) of(project bool) settingsPlace {
	for _, at := range p {
		if at.name == placeProject && project || at.name == placeUser && !project {
			return at
		}
	}
	return settingsPlace{}
}

func (at settingsPlace) read() settingsRead {
	r := settingsRead{settingsPlace: at}
	text, err := os.ReadFile(at.file.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r
	case err == nil:
		r.settings, err = firewall.ReadPromptSettings(text)
	}
	r.there, r.err = true, err
	return r
}

// switchedOff says what keeps the client from calling hooks, "" when nothing
// does. What stands in one file counts more than what stands in the next.
func (p settingsPlaces) switchedOff() string {
	off, said := "", false
	for _, at := range p {
		r := at.read()
		if r.settings.ManagedOnly && at.name == placeManaged {
			return "allowManagedHooksOnly in " + term.Quote(at.file.Path)
		}
		if d := r.settings.DisableAll; d != nil && !said {
			if said = true; *d {
				off = "disableAllHooks in " + term.Quote(at.file.Path)
			}
		}
	}
	return off
}

func (a *app) warnSwitchedOff(p settingsPlaces) {
	if off := p.switchedOff(); off != "" {
		a.warn("HOOKS ARE SWITCHED OFF by " + off + ": the firewall does nothing until that is gone")
	}
}
