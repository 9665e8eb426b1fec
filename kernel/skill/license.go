package skill

import (
	"path"
	"strings"

	"oxios/kernel/sys"
)

// LicenseKind is what a licence allows, as far as its text tells.
type LicenseKind string

// The kinds of licences.
const (
	LicenseOpen      LicenseKind = "open"             // one of the known open licences
	LicenseAvailable LicenseKind = "source-available" // to be read, but not to be used, changed or passed on freely
	LicenseUnknown   LicenseKind = "unknown"          // there is a text that is not known
	LicenseNone      LicenseKind = "none"             // nothing says anything
)

// License is what a skill may be used for.
type License struct {
	Kind LicenseKind `json:"kind"`
	Name string      `json:"name,omitempty"` // Apache-2.0, or what the frontmatter says
	File string      `json:"file,omitempty"` // the text that tells
}

// Text names the licence for a person.
func (l License) Text() sys.Words {
	name := sys.Shorten(visible(l.Name), 60)
	switch l.Kind {
	case LicenseOpen:
		return sys.Words{EN: name}
	case LicenseAvailable:
		return sys.Say("Source-available, not open: use, changes or copies are restricted")
	case LicenseNone:
		return sys.Say("No license")
	}
	if name == "" {
		return sys.Say("Unknown license")
	}
	return sys.Say("Unknown license: %s", name)
}

// consider looks at a file that may hold the licence. A restriction in any of them
// counts more than a name in another.
func (l *License) consider(file, text string) {
	base := strings.ToUpper(path.Base(file))
	base, _, _ = strings.Cut(base, ".")
	if base != "LICENSE" && base != "LICENCE" && base != "COPYING" && !strings.HasPrefix(base, "LICENSE-") {
		return
	}
	name, kind := licenseOf(text)
	if l.File != "" && (kind != LicenseAvailable || l.Kind == LicenseAvailable) {
		return
	}
	*l = License{Kind: kind, Name: name, File: file}
}

// settle takes the word of the frontmatter where no file tells.
func (l *License) settle(said string) {
	if l.File != "" {
		return
	}
	said = strings.TrimSpace(said)
	l.Name = said
	switch lower := strings.ToLower(said); {
	case said == "":
		l.Kind = LicenseNone
	case restricts(lower), strings.Contains(lower, "proprietary"), strings.Contains(lower, "source-available"), strings.Contains(lower, "all rights reserved"):
		l.Kind = LicenseAvailable
	default:
		l.Kind = LicenseUnknown
		for _, open := range openLicenses {
			if lower == strings.ToLower(open.id) || lower == open.short || strings.HasPrefix(lower, strings.ToLower(open.id)+" ") {
				*l = License{Kind: LicenseOpen, Name: open.id}
				return
			}
		}
	}
}

// openLicenses are recognised by sentences that only they have.
var openLicenses = []struct{ id, short, sentence string }{
	{"Apache-2.0", "apache 2.0", "apache license version 2.0"},
	{"MPL-2.0", "mpl 2.0", "mozilla public license version 2.0"},
	{"AGPL-3.0", "agpl", "gnu affero general public license"},
	{"LGPL-3.0", "lgpl", "gnu lesser general public license"},
	{"GPL-3.0", "gpl", "gnu general public license"},
	{"MIT", "mit license", "permission is hereby granted, free of charge, to any person obtaining a copy of this software"},
	{"BSD-3-Clause", "bsd-3", "neither the name of"},
	{"BSD-2-Clause", "bsd", "redistribution and use in source and binary forms, with or without modification, are permitted"},
	{"ISC", "isc license", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted"},
	{"CC0-1.0", "cc0", "cc0 1.0 universal"},
	{"CC-BY-4.0", "cc by 4.0", "creative commons attribution 4.0"},
	{"Unlicense", "the unlicense", "this is free and unencumbered software released into the public domain"},
	{"0BSD", "0bsd", "permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted"},
}

// licenseOf recognises the text of a licence. One that restricts use is called
// source-available, also where it stands behind the text of an open one.
func licenseOf(text string) (name string, kind LicenseKind) {
	text = strings.Join(strings.Fields(strings.ToLower(strings.ReplaceAll(text, ",\n", "\n"))), " ")
	if len(text) > 64<<10 {
		text = text[:64<<10]
	}
	plain := strings.NewReplacer("license, version", "license version", "licence", "license").Replace(text)
	if restricts(plain) {
		return "", LicenseAvailable
	}
	for _, open := range openLicenses {
		if strings.Contains(plain, open.sentence) {
			if open.id == "BSD-3-Clause" && !strings.Contains(plain, "redistribution and use in source and binary forms") {
				continue
			}
			return open.id, LicenseOpen
		}
	}
	return "", LicenseUnknown
}

// restricts reports whether a text forbids what an open licence allows.
func restricts(text string) bool {
	return restrictionPattern().MatchString(text)
}

var restrictionPattern = sys.Pattern(`\b(may not|must not|shall not|cannot|are not permitted to|is not permitted to) (use|copy|reproduce|modify|distribute|redistribute|sublicense|sell|extract|retain|create derivative|make derivative|host)\b[^.]{0,80}\b(software|materials?|work|skill|service|services|content|files|commercial|production|copies|works|outside)\b` +
	`|commons clause|business source license|elastic license|server side public license|polyform|non-?commercial( use)? only|for (personal|evaluation|internal|non-?commercial) (use|purposes) only|prosperity public license|cc[ -]by(-sa)?-nc|attribution-noncommercial` +
	`|use of these materials[^.]{0,60}(is|are) governed by|no license is granted|confidential and proprietary|proprietary and confidential`)
