package store

import (
	"errors"
	"syscall"

	"oxios/kernel/sys"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// sqliteCode returns the extended result code behind err, or 0.
func sqliteCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// breaksTransaction reports whether SQLite may have rolled the whole
// transaction back when it returned err.
func breaksTransaction(err error) bool {
	switch sqliteCode(err) & 0xff {
	case lib.SQLITE_FULL, lib.SQLITE_IOERR, lib.SQLITE_NOMEM, lib.SQLITE_BUSY, lib.SQLITE_INTERRUPT, lib.SQLITE_CORRUPT:
		return true
	}
	return false
}

// fromDisk reports whether a write failed because of the disk.
func fromDisk(err error) bool {
	switch sqliteCode(err) & 0xff {
	case lib.SQLITE_FULL, lib.SQLITE_IOERR, lib.SQLITE_CANTOPEN, lib.SQLITE_READONLY:
		return true
	}
	return errors.Is(err, syscall.ENOSPC)
}

// classify turns a failure of SQLite into a coded error. Other errors, and
// those that carry a code already, pass unchanged.
func classify(err error) error {
	if err == nil {
		return nil
	}
	var coded *sys.Error
	if errors.As(err, &coded) {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) {
		return diskFull(err)
	}
	code := sqliteCode(err)
	switch code {
	case lib.SQLITE_CONSTRAINT_FOREIGNKEY:
		return sys.Errorf(sys.CodeNotFound, "What this belongs to does not exist (any more): %w.", err)
	case lib.SQLITE_CONSTRAINT_UNIQUE, lib.SQLITE_CONSTRAINT_PRIMARYKEY:
		return sys.Errorf(sys.CodeConflict, "It exists already: %w.", err)
	case lib.SQLITE_IOERR_SHMSIZE: // the file that all connections share cannot be made; this is what a full disk says to whoever opens
		return diskFull(err)
	}
	switch code & 0xff {
	case lib.SQLITE_FULL:
		return diskFull(err)
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return sys.Errorf(sys.CodeBusy, "Another process is using the database, so nothing was saved: %w.", err).
			WithHint("Close the other program and try again.")
	case lib.SQLITE_INTERRUPT:
		return sys.Errorf(sys.CodeCanceled, "The query was stopped: %w.", err)
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return sys.Errorf(sys.CodeUnavailable, "The database is damaged: %w.", err).
			WithHint("Run `oxios doctor`: it can go back to a backup.")
	case lib.SQLITE_IOERR, lib.SQLITE_CANTOPEN, lib.SQLITE_READONLY, lib.SQLITE_PERM:
		return sys.Errorf(sys.CodeUnavailable, "The disk did not take what was to be saved: %w.", err).
			WithHint("Check that the disk is there, writable and healthy.")
	}
	return err
}

func diskFull(err error) error {
	return sys.Errorf(sys.CodeDiskFull, "The disk is full, so this could not be saved; everything before it was kept: %w.", err).
		WithHint("Free some space and try again.")
}

// unreadable says that the file at path is no database that we can read.
func unreadable(path string, err error) error {
	if c := classify(err); sys.CodeOf(c) == sys.CodeBusy || sys.CodeOf(c) == sys.CodeDiskFull || sys.CodeOf(c) == sys.CodeCanceled {
		return c
	}
	return sys.Errorf(sys.CodeUnavailable, "The database %s cannot be read: %w. Nothing was overwritten.", path, err).
		WithHint("Move the file aside to start afresh, or go back to a backup with `oxios doctor`.")
}
