// Package sys holds the words that every other package of the kernel speaks:
// identifiers, principals, coded errors, the clock, isolation levels and Park.
// It imports nothing of Oxios, so that anything may import it.
package sys
