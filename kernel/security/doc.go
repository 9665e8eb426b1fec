// Package security decides what may happen and keeps the record of what did.
//
// It owns capability spaces and profiles, the published permission table, the
// verdict on a command line, path boundaries, approvals, the audit chain, the
// credentials of providers and the masking of secrets. It promises:
//
//   - Delegation never widens: a child's capabilities are a subset of its
//     parent's, whatever it asks for.
//   - What the settings page shows as the permission table is the table that
//     decides.
//   - An approval is durable, bound to the exact call, given by a person, and
//     used at most once unless the person gave it for the whole run.
//   - A change in the middle of the audit chain is found, on any machine, from
//     an export alone.
//   - A key is kept in the keyring or an encrypted file, and given out only
//     for the host that it was entered for.
//
// The package decides and records; it performs no effect itself.
package security
