// Package limit keeps agents from using too much: budgets of tokens, calls and
// money for the day and for each run, from which a call reserves the most that it
// may use before it is made. It keeps a provider from being asked too much: a
// circuit breaker that leaves one alone which fails, and a limit on requests per
// minute. And it watches how loaded the machine is.
//
// It promises that what is spent and what is reserved together never exceed a
// limit, however many calls are under way; that a provider's outage costs a
// caller no waiting once it is known; and that mistakes of the caller never count
// as an outage.
package limit
