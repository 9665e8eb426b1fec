// Package store owns oxios.db, the one SQLite database of a home: sessions and
// messages, runs and their steps, the queue, file changes, spending and small
// state. It also owns the tables approvals and audit, whose rows belong to the
// security package.
//
// It promises:
//
//   - What [Store.Write] has acknowledged survives kill -9 and power loss. A
//     function that failed leaves nothing behind, also when it was committed
//     together with others.
//   - Readers never wait for the writer, and see one moment of the database.
//   - The steps of a run are appended by one owner alone: see [Journal].
//   - A database that cannot be read, or that a newer Oxios has written, is
//     left as it is. An older one is copied before it is migrated.
//
// Failures that a person can do something about are [sys.Error] values:
// disk_full, busy, newer_database, unavailable, not_found, conflict.
// The kernel's lock keeps a second process off the home; this package does not.
package store
