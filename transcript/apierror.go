package transcript

import (
	"strings"

	"github.com/tidwall/gjson"
)

// APIError is what the client says in the model's place when a request failed.
type APIError struct {
	Kind   string // rate_limit, billing_error, authentication_failed, server_error, ...
	Code   string // usage_limit_reached, connection_failed, ...; "" = none
	Type   string // of the response's body: overloaded_error, invalid_request_error, ...; "" = none
	Status int    // 0 = none
	Text   string
	Limit  *RateLimit // with a usage limit
}

// APIError decodes the error that the main agent's record reports; nil when it
// reports none. A model cannot write such a record, whatever it says.
func (e Event) APIError() *APIError {
	if e.Kind != KindText || e.Agent != "" ||
		!strings.Contains(e.Record, `"is_api_error_message"`) && !strings.Contains(e.Record, `"isApiErrorMessage"`) {
		return nil
	}
	v := gjson.Parse(e.Record)
	if v.Get("type").String() != "assistant" || !first(v, "is_api_error_message", "isApiErrorMessage").Bool() {
		return nil
	}
	a := &APIError{
		Kind: v.Get("error").String(), Code: v.Get("api_error").String(), Type: v.Get("api_error_type").String(),
		Status: int(v.Get("api_error_status").Int()), Text: e.Text,
	}
	if info := v.Get("api_error_params.rate_limit_info"); info.IsObject() {
		a.Limit = rateLimitOf(info)
	}
	return a
}
