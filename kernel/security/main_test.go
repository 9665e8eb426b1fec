package security

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childVar makes the test binary play a process that will be killed.
const childVar = "OXIOS_SECURITY_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVar); dir != "" {
		runUntilKilled(dir)
	}
	goleak.VerifyTestMain(m)
}
