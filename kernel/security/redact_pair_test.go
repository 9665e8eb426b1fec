package security

import (
	"strings"
	"testing"
)

func TestValuesInSettingsAreMaskedHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, text, secret string }{
		{"k8s.yaml", "env:\n  - name: DB_PASSWORD\n    value: hunter22\n", "hunter22"},
		{"k8s.yaml", "env:\n  - value: \"hunter 22\"\n    name: DB_PASSWORD\n", "hunter 22"},
		{"task.json", `[{"name": "DB_PASSWORD", "value": "hunter22"}]`, "hunter22"},
		{"task.json", `[{"value": "hunter22", "key": "API_TOKEN"}]`, "hunter22"},
		{"compose.yml", "command: [\"--password\", \"hunter22\"]\n", "hunter22"},
		{"c.yml", "password: 'it''s me'\nx: 1\n", "it''s me"},
		{"c.yml", "password: !!str 12345678\n", "12345678"},
		{"a.properties", "db.password=hunter22\\\n  tail9999\nx=1\n", "tail9999"},
		{".npmrc", "_auth=dXNlcjpwYXNz\n", "dXNlcjpwYXNz"},
		{"Dockerfile", "FROM x\nENV API_TOKEN k8Jd92lmXq01\n", "k8Jd92lmXq01"},
		{"a.fish", "set -gx API_TOKEN k8Jd92lmXq01\n", "k8Jd92lmXq01"},
		{"run.sh", "#!/bin/sh\nAPI_SECRET=\"hunter 22\"\n", "hunter 22"},
	} {
		out, n := RedactAs(TextFormOf(tt.file, tt.text), tt.text)
		if n != 1 || strings.Contains(out, tt.secret) {
			t.Errorf("%s: %q is shown as %q", tt.file, tt.text, out)
		}
	}
	for _, tt := range []struct{ file, text string }{
		{"k8s.yaml", "env:\n  - name: DB_HOST\n    value: hunter22\n  - name: DB_PASSWORD\n    valueFrom:\n      secretKeyRef:\n        name: db\n  - name: MAX_TOKENS\n    value: \"4096\"\n"},
		{"k8s.yaml", "env:\n  - name: DB_PASSWORD\n    value: ${DB_PASSWORD}\n  - name: PASSWORD_FILE\n    value: /run/secrets/x\n"},
		{"package.json", `{"dependencies": {"js-tokens": "^4.0.0", "path-key": "3.1.0", "visitor-keys": ">=4 <6", "eslint-keys": "~1.2.0-rc.1", "a-token": "workspace:*", "b-token": "10.0.0-rc.0 || ^10.0.0"}}`},
		{"package-lock.json", "{\"integrity\": \"sha512-iHlbxRDZOpH0KW9+CeX4bRAaX0Anxt0tx2MrpRpWwQaPwIlISEJhYU5Pw==\",\n      \"dev\": true}"},
		{"a.json", `{"text": "unexpected token", "module_type": "text", "enum": ["pass", "failed", "token", "session"]}`},
		{"ci.yml", "permissions:\n  contents: read\n  id-token: write\nrun: docker run -v $(pwd):/work -v ${PWD}:/app x\n"},
		{"c.yml", "password: ''\nx: 'it''s'\n"},
		{"run.sh", "#!/bin/sh\nTOKEN=\"$(cat x) y\"\nTOKEN_HELP=\"some text here\"\n"},
		{"form.json", `{"fields": [{"name": "password", "value": ""}, {"name": "user", "value": "someone"}]}`},
	} {
		if out, n := RedactAs(TextFormOf(tt.file, tt.text), tt.text); n != 0 {
			t.Errorf("%s: %q is shown as %q", tt.file, tt.text, out)
		}
	}
}

func TestKeysOfMoreIssuersAreMasked(t *testing.T) {
	t.Parallel()
	hex := strings.Repeat("3de732212e9283c9", 4)
	for _, key := range []string{
		"oy2" + "kq7d2m5x9c1v8b4n6z3l0p7o2i5u9y1t4r8e6w3q0a5",
		"sk_" + hex[:48], "patr1YtFuko4575cW." + hex, "pa-OCTplA9Hc3jlVYxLmaXs7n2T9zNMN5XQaiOCqT1j5fT",
		"fw_FFFeCJeR3ulLZHcY4KeObKu0", "gitpod_pat_mhjYiBYOmuuUiD6znRpxMOT0cJLbHRJIGSZT0z3A", "rdme_" + hex + "9902e3",
		"EAA" + "5r2nk8Wom0v1lzDbwlhPkTOwSMzkAQpYOY6KHK9aDrpATeWej9MRSJnS53iO9BnzBX9Djl0CPMvaSrrSVtJBLgdI5X9JWwsvUfhjI9wE7snecBmpGl4vWhbbfSdw",
	} {
		if out, n := Redact("got " + key + " from it"); n != 1 || strings.Contains(out, key) {
			t.Errorf("%q is shown as %q", key, out)
		}
	}
	for _, s := range []string{"pa-systems-and-more", "fw_update_of_the_board_once", "sk_buff_head", "patrol.example", "oy2 is short", "EAA is a place"} {
		if out, n := Redact(s); n != 0 {
			t.Errorf("%q is shown as %q", s, out)
		}
	}
}
