package receipt

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

var errRange = errors.New("number out of range")

// number reads a JSON number and writes it in the layout of serde_json.
func (p *parser) number() error {
	start := p.pos
	integer, ok := p.scanNumber()
	if !ok {
		return p.fail("invalid number")
	}
	text := string(p.in[start:p.pos])
	if integer && text != "-0" {
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			p.out = strconv.AppendUint(p.out, n, 10)
			return nil
		}
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			p.out = strconv.AppendInt(p.out, n, 10)
			return nil
		}
	}
	f, err := p.readFloat(text)
	if err != nil {
		return fmt.Errorf("invalid JSON at byte %d: %w", start, err)
	}
	p.out = appendFloat(p.out, f)
	return nil
}

// scanNumber passes over a number as JSON's grammar has it.
func (p *parser) scanNumber() (integer, ok bool) {
	p.take('-')
	if !p.take('0') && p.digits() == 0 {
		return false, false
	}
	integer = true
	if p.take('.') {
		if integer = false; p.digits() == 0 {
			return false, false
		}
	}
	if p.take('e') || p.take('E') {
		integer = false
		if !p.take('+') {
			p.take('-')
		}
		if p.digits() == 0 {
			return false, false
		}
	}
	return integer, !isDigit(p.peek())
}

func (p *parser) digits() (n int) {
	for ; isDigit(p.peek()); n++ {
		p.pos++
	}
	return n
}

func nearestFloat(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, errRange
	}
	return f, nil
}

// serdeFloat reads a number as serde_json does without its float_roundtrip
// feature: it gathers digits while they fit 64 bits, drops the others, and
// scales once. The result can be a step off the nearest float64.
func serdeFloat(text string) (float64, error) {
	var d decimal
	i := 0
	if text[0] == '-' {
		i++
	}
	i = d.whole(text, i)
	if i < len(text) && text[i] == '.' {
		i = d.fraction(text, i+1)
	}
	if i < len(text) && !d.scale(text[i+1:]) {
		return 0, errRange
	}
	f, err := d.float()
	if text[0] == '-' {
		f = math.Copysign(f, -1)
	}
	return f, err
}

// decimal is digits × 10^exp.
type decimal struct {
	digits uint64
	exp    int
}

// push adds a digit unless 64 bits are full.
func (d *decimal) push(b byte) bool {
	n := uint64(b - '0')
	if d.digits > (math.MaxUint64-n)/10 {
		return false
	}
	d.digits = d.digits*10 + n
	return true
}

func (d *decimal) whole(text string, i int) int {
	for ; i < len(text) && isDigit(text[i]); i++ {
		if !d.push(text[i]) {
			break
		}
	}
	for ; i < len(text) && isDigit(text[i]); i++ {
		d.exp++
	}
	return i
}

func (d *decimal) fraction(text string, i int) int {
	for ; i < len(text) && isDigit(text[i]); i++ {
		if !d.push(text[i]) {
			break
		}
		d.exp--
	}
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i
}

// scale takes the exponent that was written. It reports false for one that is
// too large for any digit but zero.
func (d *decimal) scale(text string) bool {
	n, err := strconv.ParseInt(text, 10, 32)
	if err == nil {
		d.exp += int(n)
		return true
	}
	if text[0] == '-' || d.digits == 0 {
		*d = decimal{}
		return true
	}
	return false
}

// maxPower is the largest power of ten that a float64 holds.
const maxPower = 308

func (d *decimal) float() (float64, error) {
	f, exp := float64(d.digits), d.exp
	for exp < -maxPower && f != 0 {
		f /= 1e308
		exp += maxPower
	}
	switch {
	case f == 0:
		return 0, nil
	case exp > maxPower:
		return 0, errRange
	case exp < 0:
		return f / power(-exp), nil
	}
	f *= power(exp)
	if math.IsInf(f, 0) {
		return 0, errRange
	}
	return f, nil
}

// power is the float64 nearest to 10^n. math.Pow10 multiplies two of them.
func power(n int) float64 {
	f, _ := strconv.ParseFloat("1e"+strconv.Itoa(n), 64)
	return f
}

// appendFloat prints the shortest digits that give f back, in the layout of
// serde_json: a point always, or an exponent without a plus when the point
// would stand more than 16 digits to the right or 5 to the left.
func appendFloat(out []byte, f float64) []byte {
	digits, point := shortest(f)
	if math.Signbit(f) {
		out = append(out, '-')
	}
	switch n := len(digits); {
	case f == 0:
		return append(out, "0.0"...)
	case n <= point && point <= 16: // 1234e7: 12340000000.0
		out = append(out, digits...)
		return append(appendZeros(out, point-n), ".0"...)
	case 0 < point && point <= 16: // 1234e-2: 12.34
		out = append(append(out, digits[:point]...), '.')
		return append(out, digits[point:]...)
	case -5 < point && point <= 0: // 1234e-6: 0.001234
		out = appendZeros(append(out, "0."...), -point)
		return append(out, digits...)
	}
	out = append(out, digits[0])
	if len(digits) > 1 {
		out = append(append(out, '.'), digits[1:]...)
	}
	return strconv.AppendInt(append(out, 'e'), int64(point-1), 10)
}

func appendZeros(out []byte, n int) []byte {
	for range n {
		out = append(out, '0')
	}
	return out
}

// shortest gives the digits d1d2… and point such that f = 0.d1d2… × 10^point.
func shortest(f float64) (digits []byte, point int) {
	s := strconv.AppendFloat(nil, math.Abs(f), 'e', -1, 64)
	i := 1
	for i < len(s) && s[i] != 'e' {
		i++
	}
	exp, _ := strconv.Atoi(string(s[i+1:]))
	digits = append(digits, s[0])
	if i > 2 {
		digits = append(digits, s[2:i]...)
	}
	return digits, exp + 1
}
