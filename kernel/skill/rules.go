package skill

import (
	"regexp"
	"strings"

	"oxios/kernel/sys"
)

// rule finds one kind of thing in a line. need are words of which one must be in
// the line, in lower case: most lines are done with by that.
type rule struct {
	kind   Kind
	need   []string
	expr   func() *regexp.Regexp
	counts func(line string, at []int) bool // whether a match counts; nil for always
}

// fetchers are programs that load something from the network.
var fetchers = []string{"curl", "wget", "aria2c", "lynx", "iwr", "irm", "invoke-", "downloadstring", "webclient"}

// rules are matched with each line that is no table of Markdown. Lines that a
// backslash joins are one.
var rules = []rule{
	{kind: KindRemote, need: fetchers, expr: sys.Pattern(`(?i)\b(?:curl|wget|aria2c|lynx)\s[^\n]*\|\s*(?:sudo\s+(?:-\S+\s+)*)?(?:env\s+(?:\S+=\S*\s+)*)?(?:[\w./]*/)?(?:ba|z|da|k|a|fi)?sh(?:[^\w.\-=/]|$)`)},
	{kind: KindRemote, need: fetchers, expr: sys.Pattern("(?i)\\b(?:curl|wget|aria2c)\\b[^\\n]*\\|\\s*(?:sudo\\s+)?(?:[\\w./]*/)?(?:python[0-9.]*|node|deno|bun|perl|ruby|php|pwsh|powershell)(?:\\s+-)?\\s*(?:$|[;&|)\"'`#])")},
	{kind: KindRemote, need: fetchers, expr: sys.Pattern("(?i)(?:\\b(?:ba|z|da|k)?sh|\\bsource|\\beval|(?:^|[\\s;&])\\.|\\bpython[0-9.]*|\\bnode|\\bperl|\\bruby)\\s+(?:-\\w+\\s+)*[\"']?(?:<\\(|\\$\\(|`)\\s*(?:curl|wget)\\b")},
	{kind: KindRemote, need: fetchers, expr: sys.Pattern(`(?i)\b(?:curl|wget)\b[^\n]*\s(?:-\w*o|-O|--output|--output-document|>)[\s=]*\S+[^\n]*(?:&&|;)\s*(?:sudo\s+)?(?:(?:ba|z|da)?sh\s|python[0-9.]*\s|node\s|perl\s|\./|source\s|chmod\s+(?:\S*\+\w*x|[0-7]*7[0-7]*)\s)`)},
	{kind: KindRemote, need: []string{"iex", "invoke-expression"}, expr: sys.Pattern(`(?i)\b(?:iwr|irm|invoke-webrequest|invoke-restmethod|downloadstring|webclient|curl|wget)\b[^\n]*\|\s*(?:iex|invoke-expression)\b|\b(?:iex|invoke-expression)\b[^\n]*\b(?:iwr|irm|invoke-webrequest|invoke-restmethod|downloadstring|webclient)\b`)},
	{kind: KindRemote, need: []string{"certutil", "mshta", "regsvr32", "bitsadmin", "rundll32", "scriptblock]::create"}, expr: sys.Pattern(`(?i)certutil\S*\s[^\n]*-urlcache|mshta(?:\.exe)?\s+["']?(?:https?|vbscript|javascript):|regsvr32[^\n]*/i:https?:|bitsadmin[^\n]*/transfer|rundll32[^\n]*javascript:|scriptblock\]::create\([^\n]*(?:iwr|irm|invoke-|webclient|downloadstring)`)},
	{kind: KindRemote, need: []string{"exec", "eval"}, expr: sys.Pattern(`(?i)\b(?:exec|eval)\s*\(\s*[^\n]*(?:requests\.(?:get|post)|urlopen|httpx\.(?:get|post)|urllib\.request|aiohttp|fetch\s*\(|https?\.get\s*\(|axios)|\beval\b\s*\(?[^\n]*(?:URI\.open|Net::HTTP|\bopen\s*\(\s*["']https?:|\bget\s*\(?\s*["']https?:|file_get_contents\s*\(\s*["']https?:)`)},
	{kind: KindRemote, need: []string{"function", "eval", "runin"}, expr: sys.Pattern(`(?i)(?:\bfetch|\baxios(?:\.get)?|\bhttps?\.get)\s*\([^\n]*(?:\beval\b|\bnew\s+(?-i:Function)\b|\b(?-i:Function)\s*\(|\brunIn\w+)|(?:\bnew\s+(?-i:Function)|\brunIn\w+)\s*\([^\n]*(?:\bfetch\s*\(|\baxios|\bhttps?\.get)`)},
	{kind: KindRemote, need: []string{"import", "deno", "npx", "bunx"}, expr: sys.Pattern(`(?i)\bimport\s*\(\s*["'` + "`" + `]https?://|\bimportScripts\s*\(\s*["']https?:|\bdeno\s+(?:run|install)\s[^\n]*https?://|\b(?:npx|bunx)\s+(?:-\S+\s+)*["']?https?://`)},
	{kind: KindRemote, need: []string{"--index-url", "--extra-index-url", "--registry"}, expr: sys.Pattern(`(?i)(?:--(?:extra-)?index-url|--registry)[\s=]+["']?(https?://[^\s"'/]+)`), counts: foreignIndex},
	{kind: KindRemote, need: []string{"webhook.site", "requestbin", "pipedream.net", "oast.", "burpcollaborator", "interact.sh", "pastebin.com/raw", "rentry.co", "glot.io", "transfer.sh", "termbin", "0x0.st"}, expr: sys.Pattern(`(?i)\b(?:webhook\.site|requestbin\.\w+|\w+\.pipedream\.net|oast\.\w+|burpcollaborator\.net|interact\.sh|pastebin\.com/raw|rentry\.co/\w+/raw|glot\.io/snippets|transfer\.sh|termbin\.com|0x0\.st)\b`)},

	{kind: KindEncoded, need: []string{"base64", "base32", "xxd", "openssl", "uudecode", "|rev", "| rev", "|tr ", "| tr "}, expr: sys.Pattern("(?i)(?:base(?:64|32)\\s+(?:-\\w*d\\w*|--decode)|xxd\\s+(?:-\\w+\\s+)*-r|openssl\\s+(?:enc|base64|aes\\S*)\\s[^|\\n]*-d|uudecode|\\|\\s*rev\\b|\\|\\s*tr\\s+['\"]?[a-z]-[a-z])[^\\n]*\\|\\s*(?:sudo\\s+)?(?:[\\w./]*/)?(?:(?:ba|z|da|k)?sh|python[0-9.]*|perl|node|php|ruby)(?:\\s+-\\w*)*\\s*(?:$|[;&|)\"'`#<>])")},
	{kind: KindEncoded, need: []string{"base64", "base32", "xxd", "openssl", "|rev", "| rev", "|tr ", "| tr "}, expr: sys.Pattern("(?i)(?:\\beval|\\b(?:ba|z|da|k)?sh(?:\\s+-\\w+)*|\\bsource|(?:^|[\\s;&])\\.|\\bpython[0-9.]*\\s+-c)\\s*(?:<<<\\s*)?[\"']?(?:\\$\\(|<\\(|`)[^\\n]*(?:base(?:64|32)\\s+(?:-\\w*d|--decode)|xxd\\s+(?:-\\w+\\s+)*-r|openssl\\s[^\\n]*-d\\b|\\|\\s*rev\\b|\\|\\s*tr\\s)")},
	{kind: KindEncoded, need: []string{"decode", "gzinflate", "fromhex", "unhexlify", "decompress", "marshal", "rot13", "rot_13"}, expr: sys.Pattern(`(?i)\b(?:exec|eval|os\.system|subprocess\.\w+|popen|pickle\.loads|__import__)\s*\([^\n]*(?:b(?:64|32|85|16)decode|a85decode|fromhex|unhexlify|zlib\.decompress|lzma\.decompress|marshal\.loads|codecs\.decode|rot_?13|decodebytes|base64_decode|gzinflate|decode64)`)},
	{kind: KindEncoded, need: []string{"atob", "buffer.from", "fromcharcode", "unescape", "decodeuri"}, expr: sys.Pattern(`(?i)\b(?:eval|(?-i:Function)|execSync|exec|spawn(?:Sync)?|runIn\w+|setTimeout)\s*\([^\n]*(?:\batob\s*\(|Buffer\.from\s*\([^\n]*["'](?:base64|hex)|fromCharCode|\bunescape\s*\(|decodeURIComponent\s*\(\s*["']%)`)},
	{kind: KindEncoded, need: []string{"powershell", "pwsh"}, expr: sys.Pattern(`(?i)\b(?:powershell|pwsh)(?:\.exe)?\s[^\n]*-e(?:c|nc|nco\w*)?\s+["']?[A-Za-z0-9+/=]{24,}`)},
	{kind: KindEncoded, need: []string{"frombase64string"}, expr: sys.Pattern(`(?i)\b(?:iex|invoke-expression|scriptblock\]::create|assembly\]::load)\b[^\n]*frombase64string|frombase64string[^\n]*(?:\|\s*(?:iex|invoke-expression)\b|assembly\]::load)`)},

	{kind: KindShell, need: []string{"|sh", "| sh", "|bash", "| bash", "|zsh", "| zsh", "|dash", "| dash", "|ksh", "| ksh", "|sudo", "| sudo", "|/", "| /", "|$", "| $"}, expr: sys.Pattern("(?i)(?:^|[\\s;&(`\"'$>])(?:cat|echo|printf|base64|xxd|openssl|gunzip|gzip|zcat|bzcat|tr|sed|awk|rev|head|tail|dd|python[0-9.]*|perl|node|jq|strings|envsubst|nc|ncat|pbpaste|xclip|dig|nslookup|git\\s+show)\\s[^\\n]*\\|\\s*(?:sudo\\s+(?:-\\S+\\s+)*)?(?:[\\w./]*/)?(?:ba|z|da|k)?sh(?:\\s+-\\w*)*\\s*(?:$|[;&|)\"'`#<>]|\\d>)")},
	{kind: KindShell, need: []string{"/dev/tcp/", "/dev/udp/"}, expr: sys.Pattern(`(?i)sh\s+-i[^\n]*/dev/(?:tcp|udp)/|exec\s+\d+<>\s*/dev/(?:tcp|udp)/\d+\.\d+|/dev/(?:tcp|udp)/[^\n]*(?:0>&1|\|\s*(?:ba|z|da)?sh\b)|\b(?:cat|env|tar|printenv)\b[^\n]*>\s*/dev/(?:tcp|udp)/`)},
	{kind: KindShell, need: []string{"nc ", "ncat", "netcat", "socat", "pty.spawn", "dup2", "tcpclient"}, expr: sys.Pattern(`(?i)\bn(?:c|cat|etcat)\s[^\n]*-\w*[ec]\w*\s+\S*(?:sh|cmd)\b|mkfifo[^\n]*\|[^\n]*\bn(?:c|cat|etcat)\b|\bsocat\b[^\n]*exec:|\bsocket\b[^\n]*pty\.spawn\s*\(|pty\.spawn\s*\([^\n]*socket|\bos\.dup2\s*\(\s*\w+\.fileno|net\.sockets\.tcpclient`)},
	{kind: KindShell, need: []string{"|iex", "| iex", "|invoke-expression", "| invoke-expression"}, expr: sys.Pattern(`(?i)\b(?:get-content|gc|type|cat|read-host|get-clipboard)\b[^\n]*\|\s*(?:iex|invoke-expression)\b`)},
	{kind: KindShell, need: []string{"stdin"}, expr: sys.Pattern(`(?i)\b(?:exec|eval)\s*\(\s*sys\.stdin\.read\s*\(`)},

	{kind: KindCredentials, need: strongPlaces, expr: strongPattern, counts: reaches},
	{kind: KindCredentials, need: weakPlaces, expr: sys.Pattern(`(?i)(?:\.kube/config|\.docker/config\.json|\.netrc|_netrc|\.npmrc|\.pypirc|(?:^|[\s"'@(/=])\.env(?:\.\w+)?|rclone\.conf|\.pgpass|\.my\.cnf|\.bash_history|\.zsh_history)(?:["'\s;&|)]|$)`), counts: sent},
	{kind: KindCredentials, need: []string{"token", "credential"}, expr: sys.Pattern(`(?i)\bgh auth token\b|\bgcloud auth (?:application-default )?print-(?:access|identity)-token\b|\baz account get-access-token\b|\baws configure (?:get|export-credentials)\b|\bheroku auth:token\b|\bgit credential fill\b`), counts: tokenSent},
	{kind: KindCredentials, need: []string{"env", "get-childitem", "set |"}, expr: sys.Pattern(`(?i)(?:^|[\s;&(` + "`" + `"'])(?:env|printenv|export\s+-p|set)\s*(?:\||>)[^\n]*(?:curl|wget|\bnc\b|ncat|base64|https?:)|\b(?:curl|wget)\b[^\n]*(?:\$\(\s*(?:env|printenv)\b|` + "`" + `(?:env|printenv)\b)|(?:dumps|stringify|urlencode|encode|post|send)\s*\([^\n]*(?:os\.environ\b(?:\s*[),]|\.copy|\.items)|process\.env\s*[),])|(?:get-childitem|gci|dir|ls)\s+env:[^\n]*(?:invoke-|iwr|irm|convertto)`)},
	{kind: KindCredentials, need: []string{"security ", "secret-tool", "keyring", "cmdkey", "vaultcmd", "cookie3", "cookiecheat", "dpapi", "cryptunprotect", "169.254.169.254", "metadata.google"}, expr: sys.Pattern(`(?i)\bsecurity\s+(?:find-(?:generic|internet)-password|dump-keychain|export)\b|\bsecret-tool\s+(?:lookup|search)\b|\bcmdkey\s+/list|\bvaultcmd\b|browser_?cookie3|pycookiecheat|CryptUnprotectData|dpapi[^\n]*unprotect|169\.254\.169\.254/[^\s]*(?:credentials|token|iam)|metadata\.google\.internal[^\s]*token`)},
}

// tokenSent reports whether a key that a program was asked for goes to a machine
// that is not of its service.
func tokenSent(line string, at []int) bool {
	service, _, _ := strings.Cut(strings.TrimSpace(strings.ToLower(line[at[0]:at[1]])), " ")
	words := map[string][]string{"gh": {"github"}, "gcloud": {"google"}, "az": {"azure", "microsoft", "windows.net"}, "aws": {"amazonaws", "aws."}, "heroku": {"heroku"}}[service]
	hosts := hostPattern().FindAllStringSubmatch(strings.ToLower(line), 20)
	for _, h := range hosts {
		for _, w := range words {
			if strings.Contains(h[1], w) {
				return false
			}
		}
	}
	return len(hosts) > 0
}

// strongPlaces are words of places where nothing but keys and passwords is kept.
var strongPlaces = []string{".ssh", ".aws", "git-credentials", "gcloud", "application_default_credentials", "gh/hosts", "login data", "logins.json", "key4.db", "keychain", "/etc/shadow", "wallet", "keystore", "solana", ".gnupg", "vault-token", "/environ", ".codex/auth", ".claude/.credentials", "cookies", "id_rsa", "id_ed25519", ".azure", "1password", "keepass", "password-store", ".oxios", "openclaw"}

var strongPattern = sys.Pattern(`(?i)\.ssh(?:/(?:id_\w+|\*|authorized_keys|[\w.]*_(?:rsa|ed25519|ecdsa|dsa))\b|/?["'\s;&|)*]|/?$)|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\.aws/(?:credentials|sso/cache)|\.aws/?(?:["'\s;&|)]|$)|\.git-credentials|gcloud/(?:application_default_credentials|credentials\.db|access_tokens)|application_default_credentials\.json|\bgh/hosts\.ya?ml` +
	`|Login Data\b|\blogins\.json\b|\bkey4\.db\b|(?:Chrome|Chromium|Brave|Firefox|Edge)\b[^\n]*\bCookies\b|login\.keychain|Library/Keychains|/etc/shadow\b|\bwallet\.dat\b|\.ethereum/keystore|solana/id\.json|\.electrum/wallets|\.gnupg(?:/private|/secring|/?["'\s;&|)]|/?$)|\.vault-token\b|/proc/(?:self|\d+|\*|\$\w+)/environ|\.codex/auth\.json|\.claude/\.credentials|\.azure/(?:accessTokens|msal)|\.password-store|\.kdbx\b|\.oxios/(?:keys|credentials|oxios\.db)|\.openclaw/(?:credentials|\.env)`)

var weakPlaces = []string{".kube/config", ".docker/config", "netrc", ".npmrc", ".pypirc", ".env", "rclone.conf", ".pgpass", ".my.cnf", "_history"}

// foreignIndex reports whether packages come from a place that is not one of the
// usual ones.
func foreignIndex(line string, at []int) bool {
	host := strings.ToLower(line[at[2]:at[3]])
	for _, known := range []string{"pypi.org", "pythonhosted.org", "pytorch.org", "nvidia.com", "npmjs.org", "npmjs.com", "github.com", "yarnpkg.com", "jsr.io", "localhost", "127.0.0.1", "example.com"} {
		if strings.HasSuffix(host, "//"+known) || strings.HasSuffix(host, "."+known) {
			return false
		}
	}
	return true
}

// sent reports whether a line also sends something away, or packs it to be sent.
func sent(line string, at []int) bool {
	return senderPattern().MatchString(line) && !negated(line, at)
}

var senderPattern = sys.Pattern(`(?i)\b(?:curl|wget)\b[^\n]*(?:\s-d|--data|\s-F|--form|\s-T|--upload|--post|@)|\bnc\s|\bncat\s|\bscp\b|\brsync\b[^\n]*:|requests\.(?:post|put)|httpx\.(?:post|put)|fetch\s*\([^\n]*(?:post|body)|\bbase64\b|\b(?:send|upload|post|exfiltrate|transmit|forward|email)\b[^.\n]{0,80}(?:https?://|\bto\b)|(?:보내|전송|업로드|첨부)`)

// reaches reports whether a line takes what is in such a place: a program is given
// it, or the agent is told to read it.
func reaches(line string, at []int) bool {
	if after := line[at[1]:]; strings.HasPrefix(after, ".pub") || negated(line, at) || harmlessPattern().MatchString(after) {
		return false
	}
	return reachPattern().MatchString(line) || senderPattern().MatchString(line)
}

// harmlessPattern is what follows a folder of keys when a file is meant that holds
// none.
var harmlessPattern = sys.Pattern(`^["',\s/]*(?:config|known_hosts|cli|models|alias)\b`)

var reachPattern = sys.Pattern(`(?i)(?:^|[\s;&|($` + "`" + `"'>{\[])(?:cat|less|more|head|tail|cp|mv|tar|zip|7z|xxd|od|strings|type|gc|get-content|copy|copy-item|dd|tee|grep|awk|sed|sqlite3|find|ls|cut|jq|gpg)\s|\bopen\s*\(|readFile|read_text|read_bytes|\.read\s*\(|expanduser|\bPath\s*\(|path\.join|homedir|shutil\.|createReadStream|sqlite3\.connect|>>|loadFile|slurp|File\.read|os\.ReadFile|glob` +
	`|\b(?:read|include|attach|collect|print|paste|open|show|output|copy|gather|extract|fetch|get|append|add|dump|summari[sz]e|steal|grab|harvest)\b(?:[^.\n]|\.\S){0,60}(?:\.ssh|\.aws|credentials|id_rsa|id_ed25519|hosts\.y|Login Data|logins\.json|key4|Keychain|shadow|wallet|keystore|id\.json|gnupg|vault-token|environ|auth\.json|Cookies|keychain)` +
	`|(?:읽|보내|복사|첨부|출력|수집|열어|모아)`)
