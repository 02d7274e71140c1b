package receipt

import "fmt"

// Next gives the bytes of r as the record that follows n others, the last of
// which is last. V, Seq and Prev are set here. It is Log.Append for who keeps
// the records and no log.
func (r Record) Next(n uint64, last []byte) ([]byte, error) {
	r.V, r.Seq, r.Prev = recordVersion, n, firstPrev
	if n > 0 {
		r.Prev = SumHex(last)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("append an audit record: %w", err)
	}
	return r.Encode(), nil
}
