package mcp

import (
	"context"
	"maps"
	"slices"

	"oxios/kernel/sys"
)

// A variable of a program's environment that holds a key is named in config.toml, and its value kept with the keys. They are
// bound to this computer: the program that gets one is the only place that it is sent to.
const thisComputer = "localhost"

func secretName(server, variable string) string { return "mcp:" + server + ":env:" + variable }

// holdsKey reports whether the value of a variable is one that nobody should read.
func (s *Service) holdsKey(variable, value string) bool {
	pair := variable + "=" + value
	return value != "" && s.c.Mask(pair) != pair
}

// putAway takes the keys out of the environment of a definition and keeps them with the others. undo deletes them again.
func (s *Service) putAway(ctx context.Context, name string, def Server) (_ Server, undo func(), err error) {
	var kept []string
	undo = func() {
		for _, v := range kept {
			if err := s.forget(context.WithoutCancel(ctx), secretName(name, v)); err != nil {
				s.c.Log.Warn("A key of a server that was not added could not be deleted", "server", name, "variable", v, "error", err)
			}
		}
	}
	env := maps.Clone(def.Env)
	for _, v := range slices.Sorted(maps.Keys(def.Env)) {
		if !s.holdsKey(v, def.Env[v]) {
			continue
		}
		s.c.Secret(def.Env[v])
		if _, err := s.c.Keys.Set(ctx, secretName(name, v), thisComputer, def.Env[v]); err != nil {
			undo()
			return def, func() {}, err
		}
		kept = append(kept, v)
		delete(env, v)
		if !slices.Contains(def.Secrets, v) {
			def.Secrets = append(slices.Clone(def.Secrets), v)
		}
	}
	def.Env = env
	return def, undo, nil
}

// secretsOf are the variables with keys that a program gets.
func (s *Service) secretsOf(ctx context.Context, name string, def Server) (map[string]string, error) {
	out := map[string]string{}
	for _, v := range def.Secrets {
		value, err := s.c.Keys.Get(ctx, secretName(name, v), thisComputer)
		if sys.CodeOf(err) == sys.CodeNotFound {
			return nil, sys.Errorf(sys.CodeAuth, "The server %s needs a value for the variable %s. It was not started.", name, v).
				WithHint("Enter it: `oxios mcp key %s %s`.", name, v)
		}
		if err != nil {
			return nil, err
		}
		s.c.Secret(value)
		out[v] = value
	}
	return out, nil
}
