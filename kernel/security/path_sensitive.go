package security

import (
	"path"
	"strings"
)

// secretHome are the files and folders of a home that hold keys, relative to
// it and in lower case. Nobody approves reading them for an agent.
var secretHome = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".kube", ".docker/config.json", ".password-store", ".netrc", "_netrc",
	".git-credentials", ".config/git/credentials", ".config/gh/hosts.yml", ".config/hub", ".pgpass", ".my.cnf", ".cargo/credentials",
	".cargo/credentials.toml", ".gem/credentials", ".terraform.d/credentials.tfrc.json", ".vault-token", ".local/share/keyrings",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/bravesoftware", ".config/microsoft-edge",
	".config/vivaldi", ".config/opera", ".config/1password", ".config/bitwarden", ".config/op", ".config/sops", ".config/rclone",
	".config/keepassxc", ".bitcoin", ".ethereum", ".electrum", ".boto", ".s3cfg", ".databrickscfg", ".mylogin.cnf", ".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties",
	".config/containers/auth.json", ".composer/auth.json", ".config/composer/auth.json", ".codex/auth.json", ".claude/.credentials.json",
	".gemini/oauth_creds.json", ".config/github-copilot", ".config/doctl", ".config/filezilla", ".fly/config.yml", ".netlify/config.json",
	".oci", ".wrangler/config", ".terraformrc", ".vnc/passwd", ".local/share/kwalletd", ".pki", ".oxi/auth.json", ".snap/firefox",
	"snap/firefox", "library/keychains", "library/cookies", "library/application support/google/chrome",
	"library/application support/firefox", "library/application support/com.apple.tcc", "library/messages", "library/mail",
	"appdata/local/google/chrome", "appdata/roaming/mozilla", "appdata/local/microsoft/credentials",
	"appdata/roaming/microsoft/credentials", "appdata/roaming/microsoft/protect",
}

// openInSSH are files of ~/.ssh without keys.
var openInSSH = map[string]bool{"known_hosts": true, "known_hosts.old": true, "config": true, "authorized_keys": true}

var secretSystem = []string{
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/master.passwd",
	"/etc/ssl/private", "/etc/krb5.keytab", "/etc/kubernetes", "/proc/kcore", "/dev/mem", "/dev/kmem", "/dev/port",
	"/var/run/docker.sock", "/run/docker.sock", "/var/run/secrets", "/run/secrets", "/var/lib/docker",
	"/etc/security/opasswd", "/etc/networkmanager/system-connections", "/etc/wireguard",
}

// privateNames are files that often hold a password or a key, wherever they
// lie.
var privateNames = []string{
	".env", ".env.*", "*.env", ".envrc", ".dev.vars", ".dev.vars.*", "local.settings.json", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", ".npmrc", ".pypirc",
	".netrc", "_netrc", ".git-credentials", ".pgpass", ".my.cnf", ".mylogin.cnf", ".htpasswd", ".dockercfg", ".s3cfg", ".boto", ".databrickscfg",
	"credentials", "credentials.json", "credentials.toml", ".credentials.json", "*firebase-adminsdk*.json", "auth.json", "token.json", "oauth_creds.json",
	"client_secret*.json", "service-account*.json", "service_account*.json", "secrets.y*ml", "secrets.json", "secrets.toml", "secrets.ini",
	"secrets.properties", "secret.txt", "secrets.txt", "password.txt", "passwords.txt", "passwords.csv", ".secret", ".secrets",
	"kubeconfig", "kubeconfig.y*ml", "*.kubeconfig", "*.tfstate", "*.tfstate.backup", "*.tfvars", "*.tfvars.json", "*.tfrc.json", ".vault-token", ".*_history", ".lesshst", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.ovpn",
	"wallet.dat", "login data", "cookies.sqlite", "key4.db", "logins.json",
}

// privateEnds are the same by their folder and name.
var privateEnds = []string{"/.docker/config.json", "/.kube/config", "/.config/gh/hosts.yml", "/.config/git/credentials", "/.cargo/credentials", "/.m2/settings.xml", "/.vnc/passwd"}

var sampleEnds = []string{".example", ".sample", ".template", ".dist", ".pub", ".md"}

// pathSecrecy says what reading an absolute, folded path takes.
func pathSecrecy(p, home string) Tier {
	for _, s := range secretSystem {
		if Within(p, s) {
			return TierRefuse
		}
	}
	if strings.HasPrefix(p, "/etc/ssh/ssh_host_") && !strings.HasSuffix(p, ".pub") || isRawDevice(p) {
		return TierRefuse
	}
	if strings.HasPrefix(p, "/proc/") {
		switch path.Base(p) {
		case "environ", "mem", "auxv", "maps", "pagemap":
			return TierRefuse
		}
		if strings.Contains(p, "/root/") || strings.Contains(p, "/cwd/") || strings.Contains(p, "/fd/") {
			return TierRefuse // a way around every border
		}
	}
	if strings.HasPrefix(p, "/run/user/") && (strings.Contains(p, "/keyring") || strings.Contains(p, "/gnupg") || strings.Contains(p, "/ssh-agent")) {
		return TierRefuse
	}
	base := path.Base(p)
	if rel, ok := homeRelative(p, home); ok {
		for _, s := range secretHome {
			if !Within(rel, s) {
				continue
			}
			if s == ".ssh" && (openInSSH[base] || strings.HasSuffix(base, ".pub")) {
				return TierAsk
			}
			return TierRefuse
		}
	}
	switch base {
	case "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk":
		return TierRefuse
	}
	for _, part := range []string{".ssh", ".gnupg", ".aws", ".password-store"} {
		if hasPart(p, part) {
			return TierAsk
		}
	}
	for _, end := range sampleEnds {
		if strings.HasSuffix(base, end) {
			return TierFree
		}
	}
	for _, name := range privateNames {
		if matchesGlob(name, base) {
			return TierAsk
		}
	}
	for _, end := range privateEnds {
		if strings.HasSuffix(p, end) {
			return TierAsk
		}
	}
	return TierFree
}

// homeRelative returns the part of p under some person's home.
func homeRelative(p, home string) (string, bool) {
	if home != "" && home != "/" && Within(p, home) {
		return strings.TrimPrefix(strings.TrimPrefix(p, home), "/"), true
	}
	for _, top := range []string{"/home/", "/users/", "/var/home/", "/c:/users/", "c:/users/"} {
		if rest, ok := strings.CutPrefix(p, top); ok {
			_, rel, _ := strings.Cut(rest, "/")
			return rel, true
		}
	}
	for _, top := range []string{"/root", "/~"} {
		if Within(p, top) {
			return strings.TrimPrefix(strings.TrimPrefix(p, top), "/"), true
		}
	}
	return "", false
}

// isRawDevice reports whether p is a disk or a part of one.
func isRawDevice(p string) bool {
	name, ok := strings.CutPrefix(p, "/dev/")
	if !ok {
		return false
	}
	for _, d := range []string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "loop", "md", "dm-", "disk", "rdisk", "mapper/", "mtd", "sr", "nbd", "zd", "block/", "root", "mem", "kmem", "ram"} {
		if strings.HasPrefix(name, d) {
			return true
		}
	}
	return false
}

// Files that make something run later, or open a door: nobody approves that an
// agent writes the first kind; the second kind asks although the folder may be
// written.
var (
	runsLaterNever = map[string]bool{
		".bashrc": true, ".bash_profile": true, ".bash_login": true, ".bash_logout": true, ".bash_aliases": true, ".profile": true,
		".zshrc": true, ".zprofile": true, ".zshenv": true, ".zlogin": true, ".zlogout": true, ".kshrc": true, ".mkshrc": true,
		".cshrc": true, ".tcshrc": true, ".login": true, ".logout": true, ".xinitrc": true, ".xprofile": true, ".xsession": true,
		".xsessionrc": true, ".pam_environment": true, ".inputrc": true, ".gitconfig": true, ".gitmodules": true, ".ripgreprc": true,
		".mcp.json": true, ".netrc": true, "_netrc": true, ".envrc": true, ".git-credentials": true, ".pgpass": true, ".forward": true,
		".rhosts": true, ".shosts": true, "authorized_keys": true, "authorized_keys2": true, "crontab": true,
	}
	runsLaterNeverIn = []string{
		".git/hooks", ".git/config", ".git/config.worktree", ".git/info/attributes", ".vscode", ".idea", ".claude", ".cursor", ".ssh",
		".gnupg", ".config/autostart", ".config/systemd", ".config/fish", ".config/git", ".config/environment.d", ".config/plasma-workspace",
		"library/launchagents", "library/launchdaemons", ".local/share/systemd", ".kde/autostart", ".codex", ".gemini",
	}
	runsLaterAsk = map[string]bool{
		"package.json": true, "makefile": true, "gnumakefile": true, "build.rs": true, "setup.py": true, "setup.cfg": true,
		"pyproject.toml": true, "conftest.py": true, "noxfile.py": true, "tox.ini": true, "sitecustomize.py": true,
		"usercustomize.py": true, "cmakelists.txt": true, "dockerfile": true, "containerfile": true, "docker-compose.yml": true,
		"docker-compose.yaml": true, "compose.yml": true, "compose.yaml": true, "jenkinsfile": true, ".gitlab-ci.yml": true,
		".travis.yml": true, "rakefile": true, "gemfile": true, "vagrantfile": true, "justfile": true, "taskfile.yml": true,
		"taskfile.yaml": true, "build.gradle": true, "build.gradle.kts": true, "settings.gradle": true, "gradlew": true, "mvnw": true,
		"build.xml": true, ".npmrc": true, ".yarnrc": true, ".yarnrc.yml": true, ".pnpmfile.cjs": true, ".pre-commit-config.yaml": true,
		"lefthook.yml": true, ".tool-versions": true, ".mise.toml": true, "mise.toml": true, "rust-toolchain": true, "rust-toolchain.toml": true, "gulpfile.js": true, "gruntfile.js": true,
		".vimrc": true, ".exrc": true, ".nvimrc": true, ".emacs": true, ".tmux.conf": true, ".screenrc": true, ".curlrc": true,
		".wgetrc": true, ".gdbinit": true, ".lldbinit": true, ".pythonrc": true, ".irbrc": true, ".pryrc": true, ".rprofile": true,
		".sqliterc": true, ".psqlrc": true, ".gemrc": true, ".condarc": true, "pip.conf": true, ".pypirc": true, ".bazelrc": true,
		"procfile": true, "flake.nix": true, "shell.nix": true, "default.nix": true, "meson.build": true, "sconstruct": true, "wscript": true, "claude.md": true, "agents.md": true, ".cursorrules": true,
	}
	runsLaterAskIn = []string{
		".cargo/config", ".cargo/config.toml", ".direnv", ".husky", ".githooks", ".github/workflows", ".github/actions", ".circleci",
		".devcontainer", ".mvn", ".gradle/init.d", ".gradle/init.gradle", ".gradle/gradle.properties", ".yarn/releases", ".yarn/plugins", ".yarn/sdks", "node_modules/.bin", ".local/bin", ".config/nvim", ".vim", ".emacs.d",
	}
)

// RunsLater reports whether other programs run what is in a path below a folder,
// or do as it says: a makefile, the tasks of an editor, instructions for agents.
// .git is not meant, nor is what packages bring along.
func RunsLater(rel string) bool {
	low := "/" + pathFold(rel)
	return !hasPart(low, ".git") && !hasPart(low, "node_modules") && !hasPart(low, ".venv") && pathRunsLater(low) > TierFree
}

// pathRunsLater says what writing an absolute, folded path takes beyond the
// right to write the folder.
func pathRunsLater(p string) Tier {
	base := path.Base(p)
	if runsLaterNever[base] {
		return TierRefuse
	}
	if strings.HasPrefix(p, "/etc/cron") || Within(p, "/var/spool/cron") || Within(p, "/etc/profile.d") {
		return TierRefuse
	}
	for _, in := range runsLaterNeverIn {
		if hasPart(p, in) {
			return TierRefuse
		}
	}
	if runsLaterAsk[base] || strings.HasSuffix(base, ".pth") || strings.HasSuffix(base, ".mk") {
		return TierAsk
	}
	for _, in := range runsLaterAskIn {
		if hasPart(p, in) {
			return TierAsk
		}
	}
	return TierFree
}
