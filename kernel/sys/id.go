package sys

import "github.com/google/uuid"

// NewID returns a fresh UUIDv7 in its canonical text form: 36 characters that
// sort by the time they were made.
func NewID() string {
	return uuid.Must(uuid.NewV7()).String()
}
