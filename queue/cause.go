package queue

// Cause is why an attempt ended where that is not the agent's doing, as far as
// the client told it; "" = it is, or nothing is known.
type Cause string

// The causes. Those of the first group end an attempt as limit, those of the
// second as outage.
const (
	FiveHourLimit Cause = "five-hour-limit"
	WeeklyLimit   Cause = "weekly-limit"
	ModelLimit    Cause = "model-limit" // of one model
	UsageLimit    Cause = "usage-limit" // of a subscription; which one was not said
	SpendLimit    Cause = "spend-limit" // money: of a workspace, a month, extra usage
	RateLimit     Cause = "rate-limit"  // of a key, over minutes
	Credit        Cause = "credit"      // nothing left to pay with
	Disabled      Cause = "disabled"    // by an administrator
	LongContext   Cause = "long-context-limit"
	ModelCredits  Cause = "model-needs-credits" // which the account has not, or not switched on

	Overloaded  Cause = "overloaded"
	ServerError Cause = "server-error"
	Network     Cause = "network"     // no connection, no name, no answer
	Untrusted   Cause = "tls"         // a certificate that the client does not accept
	Proxy       Cause = "proxy"       // it wants a login
	Unexplained Cause = "unexplained" // a request failed, and the client's words for it are new

	NotLoggedIn   Cause = "login" // no login, a refused key, an expired token
	NoModel       Cause = "model-not-found"
	Outdated      Cause = "client-outdated" // the provider wants a newer client
	PromptTooLong Cause = "prompt-too-long"
	ReplyTooLong  Cause = "reply-too-long"
	BadRequest    Cause = "bad-request"
	OverBudget    Cause = "budget" // the cost cap of the attempt
	OverTokens    Cause = "tokens" // the cap of tokens of its story or session
	SetupFailed   Cause = "setup"  // of a new work tree
)

// String is the cause in words.
func (c Cause) String() string {
	words := map[Cause]string{
		FiveHourLimit: "five-hour limit", WeeklyLimit: "weekly limit", ModelLimit: "limit of this model", UsageLimit: "usage limit",
		SpendLimit: "spend limit", RateLimit: "rate limit of the key", Credit: "credit used up", Disabled: "usage disabled by an administrator",
		LongContext: "limit for long contexts", ModelCredits: "the model needs credits", Overloaded: "the provider is overloaded", ServerError: "error of the provider's server",
		Network: "no connection to the provider", Untrusted: "certificate not accepted", Proxy: "the proxy wants a login",
		Unexplained: "a request failed, loop does not know why", Outdated: "the client is too old for the provider",
		NotLoggedIn: "not logged in", NoModel: "no such model", PromptTooLong: "prompt too long", ReplyTooLong: "reply too long",
		BadRequest: "request refused as wrong", OverBudget: "cost cap reached", OverTokens: "token cap reached", SetupFailed: "setup of the work tree failed",
	}
	if w, ok := words[c]; ok {
		return w
	}
	return string(c)
}

// Fault is whose doing it was that an attempt did not pass.
type Fault string

// Who is at fault. Only the agent's faults spend a story's tries.
const (
	NoFault       Fault = ""
	AgentFault    Fault = "agent"
	ProviderFault Fault = "provider"
	HostFault     Fault = "host"
	ConfigFault   Fault = "configuration"
	PersonFault   Fault = "person" // only a person can mend it
)

// Fault is whose doing the attempt's end was.
func (a *Attempt) Fault() Fault {
	switch a.Cause {
	case FiveHourLimit, WeeklyLimit, ModelLimit, UsageLimit, SpendLimit, RateLimit, Overloaded, ServerError, Unexplained:
		return ProviderFault
	case Network:
		return HostFault
	case Untrusted, Proxy, NoModel, Outdated, LongContext, ModelCredits, OverBudget, OverTokens, SetupFailed:
		return ConfigFault
	case PromptTooLong, BadRequest:
		if a.Calls == 0 {
			return ConfigFault // the next one would begin with the same prompt
		}
		return AgentFault
	case Credit, Disabled, NotLoggedIn:
		return PersonFault
	case ReplyTooLong, "":
	}
	switch a.Outcome {
	case Done, Unproven, Conflict, "":
		return NoFault
	case Limit, Outage:
		return ProviderFault
	case Auth, Interrupted, Question:
		return PersonFault
	case CouldNotStart, Unguarded, Budget:
		return ConfigFault
	case HostFailed:
		return HostFault
	case GateFailed, AgentFailed, Hung, Unchanged, Blocked:
	}
	return AgentFault
}
