package term

// Line is how any agent text of one line is printed: secrets masked, then
// quoted.
func Line(s string) string { return Quote(Mask(s)) }

// Command is how a command, host or path is printed: as Line, and letters
// that pass for ASCII ones are shown as escapes.
func Command(s string) string { return Quote(Lookalikes(Mask(s))) }

// Line is the function Line for who knows receipts.
func (k Masker) Line(s string) string { return Quote(k.Mask(s)) }

// Lines is Line for text of several lines.
func (k Masker) Lines(s string) string { return QuoteLines(k.Mask(s)) }

// Command is the function Command for who knows receipts.
func (k Masker) Command(s string) string { return Quote(Lookalikes(k.Mask(s))) }
