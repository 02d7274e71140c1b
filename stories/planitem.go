package stories

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sectionKind is what a heading says about the checkboxes under it; the
// greatest of all headings above one counts.
type sectionKind int

const (
	ordinary sectionKind = iota
	finished             // kept for memory
	optional             // worked on last
	parked               // not worked on
	aside                // not stories
)

// section is one heading.
type section struct {
	level    int
	name     string
	kind     sectionKind
	priority string
	numbered bool // phases and the like come one after the other
	title    bool // of the document
}

var (
	asideHeading = pattern(`(?i)^\W*(?:notes?|(?:success|acceptance|exit|completion) criteria|criteria|definition of done|done when|` +
		`non-goals?|out of scope|legend|examples?|template|validation commands?|quality gates?)\b`)
	finishedHeading = pattern(`(?i)^\W*(?:completed|done|finished|archived?)(?:\W+(?:tasks?|items?|work|phases?|features?|stories))?\W*(?:\(.*\))?\W*$`)
	optionalHeading = pattern(`(?i)^\W*(?:optional|nice[- ]to[- ]haves?|stretch(?: goals?)?)\b`)
	parkedHeading   = pattern(`(?i)\b(?:not auto|blocked|deferred|on hold|parked|icebox|won['’]?t (?:do|fix)|human only|needs? (?:a )?(?:human|person|decision))\b`)
	wordPriority    = pattern(`(?i)\b(critical|high|medium|low)[- ]+priority\b|\bpriority\W+(critical|high|medium|low|p?\d+)\b|^\W*(P\d)\b`)
	numberedHeading = pattern(`(?i)^\W*(?:(?:phase|milestone|stage|sprint|step|iteration|week|day|part|wave|batch|epic)\W{0,3}[a-z]?\d|m\d+\b|\d+[.)][ \t])`)
	gatesHeading    = pattern(`(?i)^\W*(?:validation(?: commands?)?|quality gates?|gates|verification commands?)\W*$`)
)

func sectionOf(name string) section {
	s := section{name: name, numbered: numberedHeading().MatchString(name)}
	switch {
	case asideHeading().MatchString(name):
		s.kind = aside
	case finishedHeading().MatchString(name):
		s.kind = finished
	case parkedHeading().MatchString(name):
		s.kind = parked
	case optionalHeading().MatchString(name):
		s.kind = optional
	}
	if m := wordPriority().FindStringSubmatch(name); m != nil {
		s.priority = m[1] + m[2] + m[3]
	}
	return s
}

const idToken = `[A-Za-z]{1,12}(?:-[A-Za-z0-9]{1,20}){0,4}-[A-Za-z0-9]{0,12}\d[A-Za-z0-9]{0,12}(?:\.\d+)*|[A-Z]{1,6}\d{2,}|[A-Z]\.\d+|\d+(?:\.\d+)+[a-z]?|#\d+`

var (
	boldBegin      = pattern(`^(?:\*\*|__)(.+?)(?:\*\*|__)(.*)$`)
	idInBold       = pattern(`^(` + idToken + `):?$`)
	idPrefix       = pattern("^(?:\\[(" + idToken + ")\\]:?|`(" + idToken + ")`:?|(" + idToken + ")(?::|[ \t]+[-–—]))[ \t]+(.*)$")
	numberPrefix   = pattern(`^(?:(T\d{2,}|\d+(?:\.\d+)+[a-z]?)\.?|([A-OQ-Z]\d{1,3})\.)[ \t]+(.*)$`)
	priorityPrefix = pattern(`^(?:\*\*|[\[(])?((?i:critical|high|medium|low)|[Pp]\d)(?:\*\*)?(?::(?:\*\*)?|[\])]:?)[ \t]+(.*)$`)
	dependsIn      = pattern(`(?i)\b(?:depends on|depends|dependencies|blocked by)\b:?[ \t]*((?:` + "`?" + `#?[\w.-]*\w` + "`?" + `[ \t]*(?:,|&|\band\b)?[ \t]*){1,40})`)
	acceptIn       = pattern("`accept:[ \t]*([^`]+)`")
	verifyNote     = pattern("(?i)^[ \t]*(?:[-*+]|\\d{1,9}[.)])[ \t]+\\**(?:verify|verification|validate|test command)\\**:\\**[ \t]+`([^`]+)`[ \t]*$")
	typeNote       = pattern(`(?i)^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\**type\**:\**[ \t]+([a-z]+)[ \t]*$`)
	levelNote      = pattern(`(?i)^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\**level\**:\**[ \t]+([a-z]+)[ \t]*$`)
	inlineComment  = pattern(`<!--.*?-->`)
	struckOut      = pattern(`^~~.+~~\W*$`)
	approvalMark   = pattern(`(?i)\[approval\]`)
	checkpointMark = pattern(`(?i)\[checkpoint\]`)
	inlineCode     = pattern("`([^`]+)`")
)

// titleLimit is how long a title may be; the rest stands in the description.
const titleLimit = 120

// story is the item as a story; its id is empty if the text gives none.
func (it *planItem) story() (Story, place) {
	s := Story{Line: it.line, Group: it.section.name}
	text := oneLine(inlineComment().ReplaceAllString(strings.Join(it.para, " "), " "))
	title, prio := text, it.section.priority
	if m := priorityPrefix().FindStringSubmatch(title); m != nil {
		prio, title = m[1], m[2]
	}
	s.ID, title = takeID(title)
	if m := priorityPrefix().FindStringSubmatch(title); m != nil && s.ID != "" {
		prio, title = m[1], m[2]
	}
	s.Priority, s.HasPriority = priority(prio)
	s.Title, it.text = title, title
	if utf8.RuneCountInString(title) > titleLimit {
		s.Title = firstWords(title)
		it.more = append([]string{title, ""}, it.more...)
	}
	s.Description = dedent(it.more)
	s.Notes = dedent(it.notes)
	s.Criteria = texts(it.criteria)
	it.extras(&s, text)
	m := mark{key: boxKey, start: it.at, end: it.at + len(it.state), raw: it.state, known: true, done: isDoneBox(it.state)}
	s.Done = m.done
	switch {
	case m.done, it.state == "", it.state == " ":
	case it.state == "/", it.state == "~":
		s.InProgress = true
	default:
		s.Held = fmt.Sprintf("its box is %q", "["+it.state+"]")
	}
	if struckOut().MatchString(title) && !s.Done && s.Held == "" {
		s.Held = "its text is struck out"
	}
	s.Approval, s.Checkpoint = approvalMark().MatchString(text), checkpointMark().MatchString(text)
	if it.section.kind == parked && !s.Done && s.Held == "" {
		s.Held = fmt.Sprintf("it stands under %q", visible(it.section.name))
	}
	return s, place{marks: []mark{m}, done: s.Done, rank: it.rank}
}

// extras is what the text says beside what is to be done.
func (it *planItem) extras(s *Story, text string) {
	all := append([]string{text}, it.more...)
	for _, line := range append(all, it.notes...) {
		s.Depends = append(s.Depends, dependsInText(line)...)
		for _, m := range acceptIn().FindAllStringSubmatch(line, -1) {
			s.Verify = append(s.Verify, strings.TrimSpace(m[1]))
		}
		if m := verifyNote().FindStringSubmatch(line); m != nil {
			s.Verify = append(s.Verify, m[1])
		}
		if m := typeNote().FindStringSubmatch(line); m != nil {
			s.Check = isCheckType(m[1])
		}
		if m := levelNote().FindStringSubmatch(line); m != nil {
			s.Level = strings.ToLower(m[1])
		}
	}
}

// dependsInText finds what a line says it waits for. It counts only if there
// is such a story.
func dependsInText(line string) []string {
	var ids []string
	lower := strings.ToLower(line)
	if !strings.Contains(lower, "depend") && !strings.Contains(lower, "blocked by") {
		return nil
	}
	for _, m := range dependsIn().FindAllStringSubmatch(line, -1) {
		for _, id := range splitIDs(m[1]) {
			if id = strings.Trim(id, "`&."); id != "" && !strings.EqualFold(id, "and") {
				ids = append(ids, textMark+id)
			}
		}
	}
	return ids
}

// takeID splits an id that stands before a text from it.
func takeID(text string) (id, rest string) {
	if m := boldBegin().FindStringSubmatch(text); m != nil {
		after := strings.TrimLeft(strings.TrimPrefix(m[2], ":"), " \t")
		if b := idInBold().FindStringSubmatch(m[1]); b != nil && after != "" {
			return strings.TrimPrefix(b[1], "#"), strings.TrimLeft(strings.TrimLeft(after, "-–—"), " \t")
		}
		text = m[1] + m[2]
	}
	if m := idPrefix().FindStringSubmatch(text); m != nil && m[4] != "" {
		return strings.TrimPrefix(m[1]+m[2]+m[3], "#"), m[4]
	}
	if m := numberPrefix().FindStringSubmatch(text); m != nil && m[3] != "" {
		return m[1] + m[2], m[3]
	}
	return "", text
}

// textID makes an id from a text, so that a story keeps it wherever in the
// file it is moved. Equal texts under different headings take the heading in.
func textID(title, text string, twins []*planItem, heading string) string {
	if len(twins) > 1 {
		text = heading + "\n" + text
	}
	sum := sha256.Sum256([]byte(text))
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	slug := ""
	for _, w := range words {
		if len(slug)+len(w) > 32 {
			break
		}
		slug += w + "-"
	}
	return slug + hex.EncodeToString(sum[:4])
}

// dedent is lines as text, without the indent they have in common.
func dedent(lines []string) string {
	common := -1
	for _, line := range lines {
		if w := width(line); strings.TrimSpace(line) != "" && (common < 0 || w < common) {
			common = w
		}
	}
	out := make([]string, 0, len(lines))
	for _, line := range lines {
		pad := max(0, width(line)-max(common, 0))
		out = append(out, strings.TrimRight(strings.Repeat(" ", pad)+strings.TrimLeft(line, " \t"), " \t"))
	}
	return strings.Trim(strings.Join(out, "\n"), "\n")
}

// planHead is the title of a Markdown document and the commands it names for
// validation.
func planHead(src *source) (title string, gates []string) {
	var skip shield
	inGates := false
	for i := range src.lines {
		line := string(src.lineText(i + 1))
		if skip.hides(line) {
			continue
		}
		if m := heading().FindStringSubmatch(line); m != nil {
			if title == "" && m[1] == "#" {
				title = oneLine(m[2])
			}
			inGates = gatesHeading().MatchString(m[2])
			continue
		}
		if m := bullet().FindStringSubmatch(line); m != nil && inGates {
			if code := inlineCode().FindStringSubmatch(m[2]); code != nil {
				gates = append(gates, code[1])
			}
		}
	}
	return title, gates
}
