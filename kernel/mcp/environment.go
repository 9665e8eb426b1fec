package mcp

import (
	"maps"
	"os"
	"slices"
	"strings"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// The variable OXIOS_MCP_NAME_COMMAND of Oxios' own environment names a server: its value is the command line.
const (
	variableBegins = "OXIOS_MCP_"
	variableEnds   = "_COMMAND"
)

// maxVariable is how many bytes of a command line are read.
const maxVariable = 16 << 10

// OriginEnvironment is the origin of a server that a variable of the environment names.
const OriginEnvironment = "environment"

// variable is what one variable of the environment says.
type variable struct {
	name string // of the variable
	def  Server
	why  sys.Words // why it cannot be a server
}

// readEnvironment reads the servers that an environment of lines NAME=value names, by the names of the servers.
func readEnvironment(environ []string) map[string]variable {
	found := map[string]variable{}
	for _, line := range slices.Sorted(slices.Values(environ)) {
		key, value, _ := strings.Cut(line, "=")
		rest, begins := strings.CutPrefix(key, variableBegins)
		rest, ends := strings.CutSuffix(rest, variableEnds)
		if !begins || !ends || value == "" {
			continue
		}
		name := strings.ReplaceAll(strings.ToLower(rest), "_", "-")
		v := variable{name: key}
		if !names().MatchString(name) {
			name, v.why = plain(name, 32), sys.Say("%s names no server: a name has letters, digits and single underscores, at most 32.", plain(key, 100))
		} else {
			v.def, v.why = commandOf(key, value)
		}
		if before, twice := found[name]; twice && before.why.EN == "" {
			before.why = sys.Say("%s and %s name the same server.", before.name, plain(key, 100))
			v = before
		}
		found[name] = v
	}
	return found
}

// commandOf reads a command line, or says why it is none.
func commandOf(key, value string) (def Server, why sys.Words) {
	if len(value) > maxVariable {
		return def, sys.Say("%s has more than %d kB.", key, maxVariable>>10)
	}
	words, ok := splitLine(value)
	switch {
	case !ok:
		return def, sys.Say("%s has a quote that does not end.", key)
	case len(words) == 0 || words[0] == "":
		return def, sys.Say("%s names no command.", key)
	case strings.ContainsAny(value, "\x00\n\r"):
		return def, sys.Say("%s is not one line.", key)
	case strings.Contains(words[0], "://"):
		return def, sys.Say("%s is an address. Add a server that runs elsewhere under Extensions instead.", key)
	}
	for _, word := range words {
		if slices.Contains([]string{"|", "||", "&", "&&", ";", "<", ">", ">>"}, word) {
			return def, sys.Say("%s has %s, which only a shell understands. Name the program itself.", key, word)
		}
	}
	return Server{Command: words[0], Args: words[1:]}, why
}

// splitLine splits a command line as a shell would: at spaces, but not inside quotes, and a backslash takes the next sign as it
// is. ok is false where a quote does not end.
func splitLine(line string) (words []string, ok bool) {
	var word strings.Builder
	var quote rune
	begun, taken := false, false
	for _, r := range line {
		switch {
		case taken:
			if quote == '"' && r != '"' && r != '\\' && r != '$' && r != '`' {
				word.WriteRune('\\')
			}
			word.WriteRune(r)
			taken = false
		case r == '\\' && quote != '\'' && os.PathSeparator == '/': // elsewhere it divides folders
			taken, begun = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words, quote == 0 && !taken
}

// settings are those in force: of config.toml, and above them those of the environment that can be meant.
func (s *Service) settings() Settings {
	set := s.c.Settings.MCP()
	more := s.environment()
	if len(more) == 0 {
		return set
	}
	all := maps.Clone(set.Servers)
	if all == nil {
		all = map[string]Server{}
	}
	for name, v := range more {
		delete(all, name) // also where it cannot be used: another program than the one that was named would be a surprise
		if v.why.EN == "" {
			v.def.Disabled = s.offHere(name)
			all[name] = v.def
		}
	}
	set.Servers = all
	return set
}

// offFile says, in a server's folder, that the person switched off what the environment names.
const offFile = "off"

func (s *Service) offHere(name string) bool {
	_, err := os.Lstat(s.at(name, offFile))
	return err == nil
}

// switchHere switches a server of the environment on or off.
func (s *Service) switchHere(name string, on bool) error {
	err := os.MkdirAll(s.at(name), 0o700)
	if on {
		if err = os.Remove(s.at(name, offFile)); os.IsNotExist(err) {
			err = nil
		}
	} else if err == nil {
		err = security.WriteFileAtomic(s.at(name, offFile), nil, 0o600)
	}
	if err != nil {
		return sys.Errorf(sys.CodeUnavailable, "That the server %s is on or off could not be kept: %w.", name, err)
	}
	return nil
}

// here reports whether the environment names a server.
func (s *Service) here(name string) bool {
	_, ok := s.environment()[name]
	return ok
}

// changeable says why a server cannot be changed: it is not config.toml that names it.
func (s *Service) changeable(name string) error {
	v, ok := s.environment()[name]
	if !ok {
		return nil
	}
	return sys.Errorf(sys.CodeConflict, "The server %s comes from the environment variable %s, so it cannot be changed or removed here. Nothing was changed.", name, v.name).
		WithHint("Change or unset %s where you set it, then start Oxios again. To only stop it: `oxios mcp disable %s`.", v.name, name)
}

// unusable are the servers of the environment that cannot be meant, as a face shows them.
func (s *Service) unusable() (list []ServerView) {
	more := s.environment()
	for _, name := range slices.Sorted(maps.Keys(more)) {
		if v := more[name]; v.why.EN != "" {
			list = append(list, s.whence(ServerView{Name: name, State: StateUnusable, Problem: v.why}))
		}
	}
	return list
}

// whence fills in where a server comes from.
func (s *Service) whence(v ServerView) ServerView {
	if from, ok := s.environment()[v.Name]; ok {
		v.Origin, v.Variable = OriginEnvironment, from.name
		_, v.Shadows = s.c.Settings.MCP().Servers[v.Name]
	}
	return v
}
