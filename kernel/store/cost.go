package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"
)

// Cost is what model calls used. The zero value is "no calls so far".
type Cost struct {
	Calls     int     `json:"calls"`
	Input     int     `json:"input"`     // tokens, the cached ones included
	Output    int     `json:"output"`    // tokens, the reasoning ones included
	Cached    int     `json:"cached"`    // input tokens that the endpoint had seen before
	Reasoning int     `json:"reasoning"` // output tokens that were not shown
	USD       float64 `json:"usd"`
	Unknown   bool    `json:"unknown"` // a part has no known price: USD is a lower bound
	Free      bool    `json:"free"`    // all of it ran where nothing is charged
}

// Add returns the sum. It is free when both parts are, and its price unknown
// when that of one part is.
func (c Cost) Add(d Cost) Cost {
	if c == (Cost{}) {
		return d
	}
	if d == (Cost{}) {
		return c
	}
	return Cost{
		Calls: c.Calls + d.Calls, Input: c.Input + d.Input, Output: c.Output + d.Output,
		Cached: c.Cached + d.Cached, Reasoning: c.Reasoning + d.Reasoning, USD: c.USD + d.USD,
		Unknown: c.Unknown || d.Unknown, Free: c.Free && d.Free,
	}
}

// minus returns what came on top of d to make c.
func (c Cost) minus(d Cost) Cost {
	return Cost{
		Calls: c.Calls - d.Calls, Input: c.Input - d.Input, Output: c.Output - d.Output,
		Cached: c.Cached - d.Cached, Reasoning: c.Reasoning - d.Reasoning, USD: c.USD - d.USD,
		Unknown: c.Unknown, Free: c.Free,
	}
}

const slot = 15 * time.Minute

// spend adds to the running account, which [Store.DayCost] reads.
func spend(tx *Tx, at time.Time, c Cost) error {
	_, err := tx.Exec(`INSERT INTO spend (slot, calls, input, output, cached, reasoning, usd, unknown, free) VALUES (?,?,?,?,?,?,?,?,?)
		ON CONFLICT (slot) DO UPDATE SET calls = calls + excluded.calls, input = input + excluded.input, output = output + excluded.output,
			cached = cached + excluded.cached, reasoning = reasoning + excluded.reasoning, usd = usd + excluded.usd,
			unknown = max(unknown, excluded.unknown), free = min(free, excluded.free)`,
		Millis(at.Truncate(slot)), c.Calls, c.Input, c.Output, c.Cached, c.Reasoning, c.USD, c.Unknown, c.Free)
	return err
}

// What calls are for that no run makes.
const (
	PurposeEmbedding = "embedding" // they make the vectors of memories
	PurposeMemory    = "memory"    // they look for what to remember
)

// Spend accounts for a call that no run made, under its purpose.
func (s *Store) Spend(tx *Tx, purpose string, c Cost) error {
	at := s.now()
	if err := spend(tx, at, c); err != nil {
		return err
	}
	_, err := tx.Exec(`INSERT INTO spend_purposes (slot, purpose, calls, input, output, usd, unknown, free) VALUES (?,?,?,?,?,?,?,?)
		ON CONFLICT (slot, purpose) DO UPDATE SET calls = calls + excluded.calls, input = input + excluded.input, output = output + excluded.output,
			usd = usd + excluded.usd, unknown = max(unknown, excluded.unknown), free = min(free, excluded.free)`,
		Millis(at.Truncate(slot)), purpose, c.Calls, c.Input, c.Output, c.USD, c.Unknown, c.Free)
	return err
}

// PurposeCost is what calls that no run made have cost together.
type PurposeCost struct {
	Purpose string `json:"purpose"` // embedding or memory
	Cost
}

// PurposeCosts returns what such calls have cost since from, by purpose.
func (s *Store) PurposeCosts(ctx context.Context, from time.Time) (out []PurposeCost, err error) {
	out = []PurposeCost{}
	err = s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query("SELECT purpose, sum(calls), sum(input), sum(output), sum(usd), max(unknown), min(free) FROM spend_purposes WHERE slot >= ? GROUP BY purpose ORDER BY purpose", Millis(from.Truncate(slot)))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var p PurposeCost
			if err := rows.Scan(&p.Purpose, &p.Calls, &p.Input, &p.Output, &p.USD, &p.Unknown, &p.Free); err != nil {
				return err
			}
			out = append(out, p)
		}
		return rows.Err()
	})
	return out, err
}

// DayCost returns what all runs together have cost since from, which is taken
// down to the quarter of an hour: pass the person's midnight for today. It
// counts when [Store.UpdateRun] or [Store.Spend] recorded the cost, and counts
// deleted sessions too.
func (s *Store) DayCost(ctx context.Context, from time.Time) (Cost, error) {
	var c Cost
	err := s.Read(ctx, func(tx *Tx) error {
		return tx.QueryRow(`SELECT coalesce(sum(calls), 0), coalesce(sum(input), 0), coalesce(sum(output), 0), coalesce(sum(cached), 0),
			coalesce(sum(reasoning), 0), coalesce(sum(usd), 0.0), coalesce(max(unknown), 0), coalesce(min(free), 0) FROM spend WHERE slot >= ?`,
			Millis(from.Truncate(slot))).Scan(&c.Calls, &c.Input, &c.Output, &c.Cached, &c.Reasoning, &c.USD, &c.Unknown, &c.Free)
	})
	return c, err
}

// Millis is the form in which the database holds a time: unix milliseconds.
func Millis(t time.Time) int64 { return t.UnixMilli() }

// FromMillis is the time that a column holds, in UTC.
func FromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func nullMillis(t *time.Time) any {
	if t == nil {
		return nil
	}
	return Millis(*t)
}

func fromNull(ms sql.NullInt64) *time.Time {
	if !ms.Valid {
		return nil
	}
	t := FromMillis(ms.Int64)
	return &t
}

// nullJSON encodes v, and the zero value as NULL.
func nullJSON[T comparable](v T) (any, error) {
	var zero T
	if v == zero {
		return nil, nil
	}
	text, err := json.Marshal(v)
	return string(text), err
}

// nullRaw keeps JSON that the caller encoded; nothing becomes NULL.
func nullRaw(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	return string(raw)
}

func fromJSON(text sql.NullString, into any) error {
	if !text.Valid {
		return nil
	}
	return json.Unmarshal([]byte(text.String), into)
}

func fromRaw(text sql.NullString) json.RawMessage {
	if !text.Valid {
		return nil
	}
	return json.RawMessage(text.String)
}
