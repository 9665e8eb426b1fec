package security

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/zeebo/blake3"
)

// RequestHash returns the name of one exact call: blake3 in hex over the
// call's name and the canonical JSON of v. v holds everything that decides
// what happens: arguments, command or argv, folder, the environment that
// matters, the digest of a script. Equal calls give equal hashes whatever the
// order of their maps.
//
// It returns "" for a v that JSON cannot express; [Approvals.Create] refuses
// that, so that nothing which has no name can be approved.
func RequestHash(call string, v any) string {
	text, err := canonicalJSON(v)
	if err != nil {
		return ""
	}
	h := blake3.New()
	fields := [][]byte{[]byte("oxios request 1"), []byte(call), text}
	if bytes.Contains(text, []byte("\uFFFD")) {
		// JSON writes every byte that is not UTF-8 as the same character, and
		// two folders with old Korean names must not share an approval. The
		// quoted form keeps such bytes apart.
		fields = append(fields, fmt.Appendf(nil, "%+q", v))
	}
	for _, f := range fields {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(f)))
		_, _ = h.Write(size[:])
		_, _ = h.Write(f)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// canonicalJSON is compact JSON with sorted keys, numbers as written, and no
// escapes but those that JSON demands.
func canonicalJSON(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var plain any
	if err := dec.Decode(&plain); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(plain); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
