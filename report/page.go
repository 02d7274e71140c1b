package report

import "html/template"

// The values of the page. Every text in them is quoted.
type (
	page struct {
		Policy, Verdict any
		Style           template.CSS
		When, Needs     []pageLine
		Alarms          []pageAlarm
		Contents        []pageLink
		Actions         []pageBlock
		Tampering       pageBlock
		Hidden          []part
		Questions       []pageAction
		Rest, Costs     [][]part
		Guard           []pageFinding
		Stories         []pageSection
		Work            []pageLine
		Events          []pageEvent
		Sessions        [][][]part
	}
	pageLink  struct{ ID, Title string }
	pageAlarm struct{ Text, Detail []part }
	pageLine  struct {
		Tone    string
		Parts   []part
		Command bool
		Whole   string
	}
	pageBlock struct {
		Actions []pageAction
		Rest    []part
	}
	pageAction struct {
		Number                      uint64
		Class, Tone, Evidence, Note string
		Story, Stamp, Clock         string
		Command                     []string
		Facts                       [][]part
		Words                       *pageWords
		Remarks                     []pageLine
		More                        []pageField
	}
	pageWords struct{ Label, Text string }
	pageField struct {
		Name  string
		Value []part
	}
	pageFinding struct {
		Tone       string
		Kind, Text []part
	}
	pageSection struct {
		ID, Title string
		Table     *pageTable
		Findings  []pageFinding
		Memory    []pageMemory
		Doubts    []pageFinding
	}
	pageTable struct {
		Caption string
		Rows    []pageRow
	}
	pageRow struct {
		Tone, State, ID, Title                  string
		Attempts, Time, Cost, GatesPassed, Name string
		Remarks                                 []pageLine
		Gates                                   []pageGate
	}
	pageGate struct {
		Name   []part
		Notes  []pageLine
		Output []string
	}
	pageEvent struct {
		Time, Stamp string
		Text        []part
	}
	pageMemory struct {
		Name  []part
		Lines []diffLine
	}
	diffLine struct{ Kind, Text string }
)
