package security

import "testing"

func TestToolsKeepTheirLists(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"npm install left-pad": "package.json", "npm i": "package.json", "cd web && pnpm add -D x": "package.json", "yarn": "package.json", "yarn add x": "package.json",
		"npm -w a install x": "package.json", "timeout 60 npm ci": "package.json", "npm init -y": "package.json", "npm pkg set type=module": "package.json",
		"uv add requests": "pyproject.toml", "poetry lock": "pyproject.toml", "bundle update": "Gemfile", "pre-commit autoupdate": ".pre-commit-config.yaml",
		"./gradlew wrapper": "gradlew", "mise use go@1.24": "mise.toml", "asdf local go 1.24": ".tool-versions",
	} {
		if v := ClassifyCommand(line, CommandOptions{Dir: "/work", Home: "/home/u"}); !v.KeepsList(want) || v.KeepsList("Makefile") {
			t.Errorf("%s: got %q, want %s", line, v.Lists, want)
		}
	}
	for _, line := range []string{
		"npm run install-all", "npm run install", "npm test", "npm ls", "npx install", "echo npm install", "bash x.sh # npm install", "bash x.sh npm install", "npm --version", "yarn run add", "uv run x add", "bundle exec install", "git add x", "go get x", "make install",
	} {
		if v := ClassifyCommand(line, CommandOptions{Dir: "/work", Home: "/home/u"}); len(v.Lists) > 0 {
			t.Errorf("%s: got %q", line, v.Lists)
		}
	}
}
