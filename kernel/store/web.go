package store

import (
	"context"
	"encoding/json"
	"fmt"
)

// Span is a part of a text, in UTF-16 units as a page counts them.
type Span struct {
	From int `json:"from"`
	To   int `json:"to"` // behind the last one

	// Foreign says that it came from a file or another program: not even an address
	// alone is the person's there.
	Foreign bool `json:"foreign,omitempty"`
}

// spansJSON is how a row holds spans; nil for none.
func spansJSON(list []Span) (any, error) {
	if len(list) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("encode which parts were pasted: %w", err)
	}
	return string(text), nil
}

// WebPage is a page that an agent has read, or a search.
type WebPage struct {
	Place     string // a conversation, or a run without one
	Host      string // the machine that was asked; "" for a search
	Address   string // that was asked for
	Addresses string // what it says of others, as [security.AddressesIn] gives it
}

// AddWebRead keeps what a page that was read says of addresses, and which one of its
// machine was read last.
func (s *Store) AddWebRead(tx *Tx, p WebPage) error {
	if p.Addresses != "" {
		if _, err := tx.Exec("INSERT INTO web_read (place, addresses) VALUES (?, ?)", p.Place, p.Addresses); err != nil {
			return fmt.Errorf("keep which addresses were read: %w", err)
		}
	}
	if p.Host == "" {
		return nil
	}
	_, err := tx.Exec("INSERT INTO web_asked (place, host, times, last) VALUES (?1, ?2, 0, ?3) ON CONFLICT (place, host) DO UPDATE SET last = ?3", p.Place, p.Host, p.Address)
	if err != nil {
		return fmt.Errorf("keep what was read last of %s: %w", p.Host, err)
	}
	return nil
}

// ReadLast reports whether an address is the one that was read last of its machine.
func (s *Store) ReadLast(ctx context.Context, place, host, address string) (is bool, err error) {
	err = s.Read(ctx, func(tx *Tx) error {
		return tx.QueryRow("SELECT EXISTS (SELECT 1 FROM web_asked WHERE place = ? AND host = ? AND last = ?)", place, host, address).Scan(&is)
	})
	return is, err
}

// WebRead returns what was kept for a place that holds these signs, whatever
// stands around them.
func (s *Store) WebRead(ctx context.Context, place, address string) (out []string, err error) {
	err = s.Read(ctx, func(tx *Tx) error {
		out, err = stringsOf(tx, "SELECT addresses FROM web_read WHERE place = ? AND instr(addresses, ?) > 0", place, address)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for an address that was read: %w", err)
	}
	return out, nil
}

// AskWeb counts a request for an address to a machine, unless that was done most
// times already: then it reports false.
func (s *Store) AskWeb(tx *Tx, place, host string, most int) (bool, error) {
	res, err := tx.Exec(`INSERT INTO web_asked (place, host, times, last) VALUES (?1, ?2, 1, '')
		ON CONFLICT (place, host) DO UPDATE SET times = times + 1 WHERE times < ?3`, place, host, most)
	var n int64
	if err == nil {
		n, err = res.RowsAffected()
	}
	if err != nil {
		return false, fmt.Errorf("count the requests to %s: %w", host, err)
	}
	return n > 0, nil
}
