package queue

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-b23e517c/loop/policy"
)

// slowly is an action as encoding/json reads it.
func slowly(raw string) (a Action, err error) {
	rec := storedAction{Action: &a}
	if err := json.Unmarshal([]byte(raw), &rec); err != nil {
		return Action{}, err
	}
	if rec.ExactInput != nil {
		a.Input = rec.ExactInput
	}
	return a, nil
}

func encoded(t testing.TB, a Action) string {
	t.Helper()
	b, err := encodeAction(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// setAll sets every field of a value to something, so that none is left out
// when it is written.
func setAll(v reflect.Value) {
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = testTime
		return
	case *json.RawMessage:
		*p = json.RawMessage(`{"command":"git push"}`)
		return
	case *policy.Tier:
		*p = policy.External
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("a \"text\"\n\tÄ\u2028 <&>")
	case reflect.Int, reflect.Int64:
		v.SetInt(-7)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setAll(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			setAll(v.Index(i))
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			setAll(field)
		}
	default:
		panic(fmt.Sprintf("no value for a %s", v.Type()))
	}
}

// A field that readAction does not know would cost each action the slow way.
func TestEveryFieldIsReadTheFastWay(t *testing.T) {
	var full, none, back Action
	setAll(reflect.ValueOf(&full).Elem())
	for name, a := range map[string]Action{"all": full, "none": none} {
		back = Action{}
		if !readAction(encoded(t, a), &back) {
			t.Errorf("%s fields: not read; each field of Action, Said and Claim stands in record.go, in its order", name)
		}
		if d := cmp.Diff(a, back); d != "" {
			t.Errorf("%s fields:\n%s", name, d)
		}
		if was, now := encoded(t, a), encoded(t, back); was != now {
			t.Errorf("%s fields: read and written again it is\n%s\nand was\n%s", name, now, was)
		}
	}
}

// What is written the fast way is what encoding/json writes, field by field. The
// fields that a new call has none of are written by that.
func TestEveryFieldIsWrittenAsJSONHasIt(t *testing.T) {
	var all Action
	setAll(reflect.ValueOf(&all).Elem())
	fast, fields := 0, reflect.TypeFor[Action]().NumField()
	check := func(what string, a Action) {
		t.Helper()
		want, err := encode(storedAction{Action: &a})
		if err != nil {
			t.Fatal(err)
		}
		got, ok := writeAction(&a, a.Input, nil)
		if ok {
			fast++
		}
		if ok && string(got) != string(want) {
			t.Errorf("%s is written\n%s\nwant\n%s", what, got, want)
		}
	}
	for i := range fields {
		var a Action
		reflect.ValueOf(&a).Elem().Field(i).Set(reflect.ValueOf(all).Field(i))
		check(reflect.TypeFor[Action]().Field(i).Name, a)
	}
	const never = 9 // holds, said, again, claims, edited, decisions, replay, earlier, owner
	if fast != fields-never {
		t.Errorf("%d of %d fields are written the fast way, want all but %d", fast, fields, never)
	}
	for _, text := range []string{
		"", "plain ~ text", `"\/`, "\x00\b\f\n\r\t\x1f\x7f", "<a href='&'>", "\u2028\u2029", "Ärger", "\xff\xc3", "\U0001f600", "\ufffd",
	} {
		check(fmt.Sprintf("%q", text), Action{Command: text, Rules: []string{text, "r"}})
	}
	for _, when := range []time.Time{{}, testTime, testTime.Add(123456789), testTime.In(time.FixedZone("x", -5400))} {
		check(when.String(), Action{DetectedAt: when})
	}
}

// What is not as encodeAction writes it is left to encoding/json.
func TestOtherFormsAreReadTheSlowWay(t *testing.T) {
	a := push("t1")
	a.Schema, a.ID, a.Number, a.Status, a.DetectedAt = Schema, "0192d3c4-0000-7000-8000-000000000001", 3, Pending, testTime
	raw := encoded(t, a)
	edit := func(from, to string) string {
		out := strings.Replace(raw, from, to, 1)
		if out == raw {
			t.Fatalf("no %s in %s", from, raw)
		}
		return out
	}
	for name, raw := range map[string]string{
		"an unknown member":   edit(`"status"`, `"mood":{"x":[1]},"status"`),
		"white space":         edit(`,"status"`, `, "status"`),
		"another order":       edit(`{"schema":1,"id":"0192d3c4-0000-7000-8000-000000000001"`, `{"id":"0192d3c4-0000-7000-8000-000000000001","schema":1`),
		"twice":               edit(`"status":"pending"`, `"status":"rejected","status":"pending"`),
		"another case":        edit(`"status"`, `"STATUS"`),
		"a float":             edit(`"number":3`, `"number":3e0`),
		"a surrogate pair":    edit(`"tool":"Bash"`, `"tool":"\ud83d\ude00"`),
		"half of one":         edit(`"tool":"Bash"`, `"tool":"\ud83d"`),
		"no UTF-8":            edit(`"tool":"Bash"`, "\"tool\":\"\xff\""),
		"a record too long":   edit(`"tool":"Bash"`, `"tool":"`+strings.Repeat("x", maxRead)+`"`),
		"null":                edit(`"rules":["git-push"]`, `"rules":[null]`),
		"an unknown tier":     edit(`"tier":"external"`, `"tier":"galactic"`),
		"cut off":             raw[:len(raw)-1],
		"something behind":    raw + "{}",
		"a control character": edit(`"tool":"Bash"`, "\"tool\":\"\x01\""),
		"nested deeply":       edit(`"input":{`, `"input":{"deep":`+strings.Repeat("[", 200)+strings.Repeat("]", 200)+`,`),
	} {
		t.Run(name, func(t *testing.T) {
			var fast Action
			if readAction(raw, &fast) {
				t.Error("read the fast way")
			}
			want, wantErr := slowly(raw)
			got, err := decodeAction(raw)
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%v, want %v", err, wantErr)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// Whatever is read the fast way is what encoding/json would have read.
func FuzzReadAction(f *testing.F) {
	var full Action
	setAll(reflect.ValueOf(&full).Elem())
	f.Add(encoded(f, full))
	f.Add(encoded(f, Action{}))
	a := push("t1")
	a.Input = json.RawMessage(`{"a":[-0.5e+3,0,10,true,false,null,{},[]],"b":"\ud83d\ude00\/\b\f\u00E4","c":"` + "\xff" + `"}`)
	f.Add(encoded(f, a))
	a.Input = json.RawMessage(`{ "command": "git push" }`)
	f.Add(encoded(f, a))
	for _, odd := range []string{`{}`, `{"schema":1,}`, `{"schema":01}`, `{"number":-0}`, `{"schema":-0}`, `{"rules":null}`, `{"input":null}`, `{"schema":1234567890123456789}`, `{"said":{},"line":1}`, `{"claims":[]}`, `{"claims":[{}]}`, `{"detected_at":"2026-02-23T08:15:00+25:00"}`} {
		f.Add(odd)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var got Action
		if !readAction(raw, &got) {
			return
		}
		want, err := slowly(raw)
		if err != nil {
			t.Fatalf("read, and encoding/json says %v", err)
		}
		if !reflect.DeepEqual(want, got) {
			t.Error(cmp.Diff(want, got))
		}
	})
}
