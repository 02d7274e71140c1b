package queue

import (
	"bytes"
	"encoding/json"

	bolt "go.etcd.io/bbolt"
)

// replace writes a record over what is stored under the key, and keeps what a
// newer version of loop has put there and this one knows nothing of. known is
// what this version makes of a stored record: all that it knows.
func replace(b *bolt.Bucket, key, now []byte, known func(was []byte) ([]byte, error)) error {
	was := b.Get(key)
	if was == nil {
		return b.Put(key, now)
	}
	if base, err := known(was); err == nil && !bytes.Equal(base, was) {
		if kept, err := carry(was, base, now); err == nil {
			now = kept
		}
	}
	return b.Put(key, now)
}

// reencodeAction is known for an action.
func reencodeAction(was []byte) ([]byte, error) {
	a, err := decodeAction(string(was))
	if err != nil {
		return nil, err
	}
	return encodeAction(a)
}

// carryOver keeps with a stored action what a newer loop has written of it into
// the spool and this one knows nothing of. Where that fails the action is stored
// without it: it keeps nothing out of the queue.
func carryOver(tx *bolt.Tx, a Action, line []byte) error {
	base, err := reencodeAction(line)
	if err != nil || bytes.Equal(base, line) {
		return nil
	}
	key, err := idKey(a.ID)
	if err != nil {
		return nil
	}
	b := tx.Bucket([]byte(bucketActions))
	kept, err := carry(line, base, b.Get(key))
	if err != nil {
		return nil
	}
	return b.Put(key, kept)
}

// reencode is known for a record of type T.
func reencode[T any](was []byte) ([]byte, error) {
	var v T
	if err := json.Unmarshal(was, &v); err != nil {
		return nil, err
	}
	return encode(v)
}

// carry is the record now with what stands in was and not in base. A member, and
// an item of a list, that is as it was stays as it was stored; one that has
// changed is written anew.
func carry(was, base, now []byte) ([]byte, error) {
	theirs, err := membersOf(was)
	if err != nil {
		return nil, err
	}
	read, err := membersOf(base)
	if err != nil {
		return nil, err
	}
	ours, err := membersOf(now)
	if err != nil {
		return nil, err
	}
	for i, m := range ours.list {
		if b, ok := read.get(m.name); ok {
			if t, ok := theirs.get(m.name); ok {
				ours.list[i].value = unchanged(t, b, m.value)
			}
		}
	}
	for _, m := range theirs.list {
		_, known := read.get(m.name)
		if _, there := ours.get(m.name); !known && !there {
			ours.list = append(ours.list, m)
		}
	}
	return ours.encode()
}

// unchanged is a value as it was stored, as far as it is what was read.
func unchanged(was, base, now []byte) []byte {
	if bytes.Equal(base, now) {
		return was
	}
	var theirs, read, ours []json.RawMessage
	for from, to := range map[*[]json.RawMessage][]byte{&theirs: was, &read: base, &ours: now} {
		if json.Unmarshal(to, from) != nil {
			return now
		}
	}
	for i := range min(len(theirs), len(read), len(ours)) {
		if bytes.Equal(read[i], ours[i]) {
			ours[i] = theirs[i]
		}
	}
	if b, err := encode(ours); err == nil {
		return b
	}
	return now
}

// members are those of one object, in their order.
type members struct{ list []member }

type member struct {
	name  string
	value json.RawMessage
}

func membersOf(b []byte) (m members, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil {
		return m, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return m, err
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return m, err
		}
		text, _ := name.(string)
		m.list = append(m.list, member{text, v})
	}
	return m, nil
}

func (m members) get(name string) (value []byte, ok bool) {
	for _, x := range m.list {
		if x.name == name {
			return x.value, true
		}
	}
	return nil, false
}

func (m members) encode() ([]byte, error) {
	out := []byte{'{'}
	for i, x := range m.list {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := encode(x.name)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), x.value...)
	}
	return append(out, '}'), nil
}
