package security

import (
	"regexp"
	"strings"
	"unicode"

	"oxios/kernel/sys"
)

// oddText asks for a line with characters that a reader does not see, or takes
// for others.
func (w *cmdWalker) oddText(line string) {
	w.part = line
	latin, lookalike := false, false
	for _, r := range line {
		switch {
		case r == '\n' || r == '\t':
			latin, lookalike = false, false
		case r == ' ':
			latin, lookalike = false, false
		case unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) ||
			unicode.Is(unicode.Zs, r) || r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Variation_Selector, r) || r == 0x3164 || r == 0x115F || r == 0x1160 || r == 0xFFA0,
			r >= 0xFF01 && r <= 0xFF5E, r >= 0x2010 && r <= 0x2015, r == 0x2212, r == 0x2044, r == 0x2215, r == 0x29F8, r >= 0x1D400 && r <= 0x1D7FF:
			w.changes(TierAsk, EffectUnknown, cmdOddText)
			return
		case r < unicode.MaxASCII:
			latin = latin || unicode.IsLetter(r)
		case unicode.Is(unicode.Cyrillic, r) || unicode.Is(unicode.Greek, r) || unicode.Is(unicode.Armenian, r) || unicode.Is(unicode.Cherokee, r):
			lookalike = true
		}
		if latin && lookalike {
			w.changes(TierAsk, EffectUnknown, cmdOddText)
			return
		}
	}
}

// windowsDangers are what nobody approves in a line for PowerShell or cmd.
var windowsDangers = []struct {
	why     *cmdReason
	pattern func() *regexp.Regexp
}{
	{&cmdDeletesTree, sys.Pattern(`(?i)\b(remove-item|ri|rm|del|erase|rd|rmdir)\b[^;|&]*\s(-r(ec[a-z]*)?\b|-fo?(rce)?\b|/s\b|/f\b|/q\b)`)},
	{&cmdDeletesTree, sys.Pattern(`(?i)\[(system\.)?io\.(directory|file)\]::delete|\.delete\(\s*\$true`)},
	{&cmdDisk, sys.Pattern(`(?i)\b(format-volume|clear-disk|initialize-disk|remove-partition|diskpart|cipher\s+/w)|\bformat\s+[a-z]:|\\\\\.\\physicaldrive`)},
	{&cmdPower, sys.Pattern(`(?i)\b(stop-computer|restart-computer|shutdown(\.exe)?\s+[/-])`)},
	{&cmdBoot, sys.Pattern(`(?i)\b(bcdedit|bootrec|reagentc)\b`)},
	{&cmdRunsDownload, sys.Pattern(`(?i)\b(iex|invoke-expression)\b|-e(nc|ncodedcommand|c)?\s+[A-Za-z0-9+/=]{16,}|downloadstring|frombase64string|\b(mshta|regsvr32|rundll32|certutil|bitsadmin|cscript|wscript)\b`)},
	{&cmdAdmin, sys.Pattern(`(?i)-verb\s+runas|\brunas\b|\bsudo\b|\bgsudo\b|\bpsexec\b`)},
	{&cmdPersists, sys.Pattern(`(?i)\bschtasks\b|register-scheduledtask|new-service|\bsc(\.exe)?\s+(create|config)|\\currentversion\\run|new-itemproperty|\breg(\.exe)?\s+(add|delete|import)|\$profile\b|startup\\`)},
	{&cmdFirewall, sys.Pattern(`(?i)set-mppreference|add-mppreference|netsh\s+(advfirewall|firewall)|set-netfirewall|disable-netfirewall|set-executionpolicy`)},
	{&cmdHidesTraces, sys.Pattern(`(?i)clear-eventlog|wevtutil|clear-history|vssadmin\s+delete|wmic\s+shadowcopy|remove-eventlog|fsutil\s+usn`)},
	{&cmdAccounts, sys.Pattern(`(?i)\bnet1?\s+(user|localgroup)\b|new-localuser|add-localgroupmember`)},
	{&cmdKillsAll, sys.Pattern(`(?i)\b(taskkill|stop-process|spps|kill)\b`)},
	{&cmdOpens, sys.Pattern(`(?i)\b(start-process|saps|start|explorer(\.exe)?|invoke-item|ii|shellexecute)\b[^;|&]*https?://`)},
	{&cmdReadsSecret, sys.Pattern(`(?i)\\\.ssh\\id_|sam\b.*\\config|\bcmdkey\b|vaultcmd|lsass|get-credential|login data`)},
	{&cmdSendsSecrets, sys.Pattern(`(?i)\.env\b.*(invoke-webrequest|invoke-restmethod|iwr|irm|curl)|(invoke-webrequest|invoke-restmethod|iwr|irm|curl)\b.*\.env\b`)},
}

var windowsWords = sys.Pattern(`(?i)(?:^|[;|&({]|\$\()\s*([a-z][a-z0-9._-]{0,60})`)

// windowsLine judges a line for PowerShell or cmd. It is not parsed, so it
// asks at least.
func (w *cmdWalker) windowsLine(line string) {
	w.part = line
	w.changes(TierAsk, EffectUnknown, cmdWindowsShell)
	for _, m := range windowsWords().FindAllStringSubmatch(line, 50) {
		w.addProgram(m[1])
	}
	w.headsInWindows(line)
	w.v.HasExpansion = strings.ContainsAny(line, "$%`")
	for _, d := range windowsDangers {
		if d.pattern().MatchString(line) {
			if d.why == &cmdDeletesTree {
				w.v.Deletes = true
			}
			w.changes(TierRefuse, EffectUnknown, *d.why)
		}
	}
	if strings.Contains(line, "://") {
		w.changes(TierAsk, EffectNetwork, cmdNetwork)
	}
}
