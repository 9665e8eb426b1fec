package store

import (
	"context"
	"database/sql"
	"errors"
)

// Get returns a piece of the kernel's small state, and whether it exists.
func (s *Store) Get(ctx context.Context, key string) (value string, ok bool, err error) {
	err = s.Read(ctx, func(tx *Tx) error {
		value, ok, err = s.GetIn(tx, key)
		return err
	})
	return value, ok, err
}

// GetIn is [Store.Get] inside a transaction: in a Write, it reads what Put
// wrote before.
func (s *Store) GetIn(tx *Tx, key string) (value string, ok bool, err error) {
	err = tx.QueryRow("SELECT value FROM kv WHERE key = ?", key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return value, err == nil, err
}

// Put sets a piece of state.
func (s *Store) Put(tx *Tx, key, value string) error {
	_, err := tx.Exec("INSERT INTO kv (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, value)
	return err
}

// Remove forgets a piece of state. It is no error when there is none.
func (s *Store) Remove(tx *Tx, key string) error {
	_, err := tx.Exec("DELETE FROM kv WHERE key = ?", key)
	return err
}
