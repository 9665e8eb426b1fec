// Package limit keeps a provider from being asked too much: a circuit breaker
// that leaves one alone which fails, and a limit on requests per minute.
//
// It promises that a provider's outage costs a caller no waiting once it is
// known, and that mistakes of the caller never count as an outage.
package limit
