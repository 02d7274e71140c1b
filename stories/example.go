package stories

import _ "embed"

//go:embed example.md
var example string

// Example is the text of a first story, for stories/001-example.md.
func Example() string { return example }
