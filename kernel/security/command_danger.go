package security

import (
	"slices"
	"strings"
	"sync"

	"oxios/kernel/sys"
)

// dangerousNames are the programs that [cmdWalker.dangerous] knows.
var dangerousNames = sync.OnceValue(func() []string {
	names := strings.Fields(`rm rmdir unlink shred wipe srm dd truncate sudo doas su pkexec run0 kill killall pkill killall5 skill xkill systemctl
		launchctl service crontab at batch chmod chown chgrp chattr setfacl setcap iptables ip6tables nft ufw firewall-cmd pfctl nc ncat
		netcat socat history fc auditctl setenforce journalctl logrotate gdb docker podman nerdctl mv rsync unset sysctl mount umount
		mkfifo nsenter ping dig host nslookup drill gpg secret-tool security gh gcloud pass op bw vault aws curl wget ssh kexec printenv
		tar cp install ln tee init telinit telnet openssl export git`)
	for name := range alwaysRefused() {
		names = append(names, name)
	}
	return names
})

// alwaysRefused are programs with no use that an agent could be given.
var alwaysRefused = sync.OnceValue(func() map[string]cmdReason {
	refused := map[string]cmdReason{}
	for why, names := range map[*cmdReason]string{
		&cmdAdmin: "sudo sudoedit doas su pkexec run0 gksu gksudo kdesu kdesudo runuser calife super sux gosu su-exec nsenter machinectl visudo vipw vigr",
		&cmdDisk: `mke2fs mkswap mkdosfs mkntfs newfs fdisk gdisk cgdisk cfdisk sfdisk sgdisk parted gparted wipefs blkdiscard
			badblocks cryptsetup lvremove vgremove pvremove lvcreate vgcreate pvcreate mdadm zpool hdparm sdparm nvme dmsetup losetup
			diskutil partprobe e2fsck fsck tune2fs resize2fs swapoff swapon diskpart format.com ddrescue wodim flashrom`,
		&cmdBoot:     "grub-install grub2-install grub-mkconfig grub2-mkconfig update-grub efibootmgr bootctl mkinitcpio update-initramfs dracut lilo fwupdmgr bless nvram",
		&cmdPower:    "shutdown reboot halt poweroff telinit pm-suspend pm-hibernate rtcwake",
		&cmdKernel:   "insmod rmmod modprobe kexec depmod bpftool",
		&cmdAccounts: "useradd userdel usermod adduser deluser groupadd groupdel groupmod gpasswd passwd chpasswd chsh chfn newusers pwck dscl",
		&cmdAttack: `hashcat john hydra medusa ncrack aircrack-ng airmon-ng airodump-ng aireplay-ng msfconsole msfvenom mimikatz responder
			crackmapexec netexec nxc patator ophcrack sqlmap bettercap ettercap crunch fcrackzip pdfcrack rarcrack hashid xmrig minerd
			cpuminer thc-hydra bruteforce-luks cewl wfuzz ffuf gobuster dirb nikto masscan beef chntpw unshadow linpeas.sh linpeas pspy64 chisel`,
		&cmdSetuid:      "setcap",
		&cmdFirewall:    "spctl csrutil tccutil",
		&cmdHidesTraces: "auditctl setenforce auditd srm wipe wevtutil utmpdump bleachbit",
		&cmdPersists:    "at batch launchctl chkconfig update-rc.d rc-update crontab",
		&cmdInjects:     "reptyr gcore injcode pyrasite hijack",
	} {
		for _, name := range strings.Fields(names) {
			refused[name] = *why
		}
	}
	return refused
})

var metadataHosts = sys.Pattern(`(?i)169\.254\.\d+\.\d+|\[?fd00:ec2::254|metadata\.(google|azure|packet|platformequinix)|metadata\.internal|100\.100\.100\.200|192\.0\.0\.192|//(2852039166|0xa9fea9fe|0251\.0376|0xa9\.0xfe|169\.16689662|\[::ffff:(169\.254|a9fe))|instance-data/|169-254-169-254|/computeMetadata/|latest/meta-data`)

// address judges an address that a program is given, in whatever way the
// number of the machine is written.
func (w *cmdWalker) address(text string) {
	host := text
	if _, rest, ok := strings.Cut(text, "://"); ok {
		host = rest
	}
	if end := strings.IndexAny(host, "/?#\\"); end >= 0 {
		host = host[:end]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if strings.Count(host, ":") == 1 || strings.Contains(host, "]:") {
		host = host[:strings.LastIndexByte(host, ':')]
	}
	leads := metadataHosts().MatchString(text) || judgeName(strings.ToLower(strings.TrimSuffix(host, "."))) == &netMetadata
	if a, ok := looseAddr(host); ok && strings.Trim(host, "0123456789") != "" || ok && strings.Contains(text, "://") {
		leads = leads || judgeAddr(a.WithZone("")) == &netMetadata
	}
	if leads {
		w.changes(TierRefuse, EffectNetwork, cmdMetadata)
	}
}

// dangerous judges programs that can do harm which nobody should approve. It
// returns true when the program needs no further look.
func (w *cmdWalker) dangerous(name string, args []cmdWord) bool {
	text := joinWords(args)
	if strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "newfs") {
		w.refuse(cmdDisk)
		return true
	}
	if why, ok := alwaysRefused()[name]; ok {
		w.alwaysRefused(name, why, args)
		return true
	}
	switch name {
	case "rm", "rmdir", "unlink", "shred", "truncate", "srm":
		w.deletes(name, args)
	case "dd":
		w.copiesRaw(args)
	case "kill", "killall", "pkill", "killall5", "skill", "xkill":
		w.kills(name, args)
	case "init":
		w.refuse(cmdPower)
	case "systemctl", "service", "loginctl":
		w.services(name, args, text)
	case "chmod", "chown", "chgrp", "chattr", "setfacl":
		w.rights(name, args)
	case "iptables", "ip6tables", "nft", "ufw", "firewall-cmd", "pfctl", "ebtables", "arptables":
		w.changes(TierAsk, EffectOutside, cmdFirewall)
		if !slices.Contains([]string{"-L", "-S", "--list", "--list-rules", "status", "list", "--list-all", "--state", "-nL", "-vnL", "-s"}, firstText(args)) {
			w.refuse(cmdFirewall)
		}
	case "sysctl":
		w.changes(TierAsk, EffectOutside, cmdSettings)
		if strings.Contains(text, "=") || hasFlag(args, "wp", "write", "load", "system") {
			w.refuse(cmdKernel)
		}
	case "history", "fc":
		w.facts.secret = true
		w.changes(TierAsk, EffectOutside, cmdReadsPrivate)
		if hasFlag(args, "cdwrap") {
			w.refuse(cmdHidesTraces)
		}
	case "unset":
		w.changes(TierAsk, EffectExecute, cmdSetsVariable)
		if strings.Contains(text, "HIST") {
			w.refuse(cmdHidesTraces)
		}
		for _, a := range args {
			delete(w.vars, a.text)
		}
	case "journalctl":
		w.changes(TierAsk, EffectOutside, cmdReadsOutside)
		if strings.Contains(text, "--vacuum") || strings.Contains(text, "--rotate") || strings.Contains(text, "--flush") {
			w.refuse(cmdHidesTraces)
		}
	case "nc", "ncat", "netcat", "nc.openbsd", "nc.traditional", "socat", "telnet":
		w.connects(name, args, text)
	case "docker", "podman", "nerdctl":
		return w.containers(args, text)
	case "mv", "cp", "install", "ln", "tee", "rsync", "mkfifo":
		return w.copies(name, args)
	case "printenv":
		w.environment()
	case "dig", "host", "nslookup", "drill", "delv", "kdig":
		w.changes(TierAsk, EffectNetwork, cmdNetwork)
		for _, a := range args {
			if a.output || a.expands && (strings.Contains(a.text, cmdUnseen) || a.facts != (cmdFacts{})) {
				w.refuse(cmdSendsSecrets)
			}
		}
	case "ping", "ping6", "fping", "traceroute", "wget", "curl":
		for _, a := range args {
			if a.output && hiddenInHost().MatchString(a.text) {
				w.changes(TierRefuse, EffectNetwork, cmdSendsSecrets)
			}
		}
		return false
	case "gpg", "gpg2", "secret-tool", "security", "gh", "gcloud", "pass", "op", "bw", "vault", "aws", "keyctl", "kwallet-query", "lpass", "az":
		return w.keyPrograms(name, text)
	default:
		return false
	}
	return true
}

// hiddenInHost finds what another command put out inside the name of a host.
var hiddenInHost = sys.Pattern(`\x00[A-Za-z0-9-]*\.[A-Za-z]`)

func firstText(args []cmdWord) string {
	if len(args) == 0 {
		return ""
	}
	return args[0].text
}

func (w *cmdWalker) alwaysRefused(name string, why cmdReason, args []cmdWord) {
	text := joinWords(args)
	switch {
	case name == "crontab" && text == "-l", (name == "fdisk" || name == "parted" || name == "sfdisk") && text == "-l",
		(name == "fsck" || name == "passwd") && (text == "--help" || text == "-S"), text == "--version" && name != "su":
		w.changes(TierAsk, EffectOutside, cmdUnknownProgram)
		return
	}
	w.refuse(why)
	if why == cmdAdmin {
		for i, a := range args {
			if _, again := alwaysRefused()[a.text]; i < 8 && !again && isKnownProgram(a.text) {
				w.probeWords(args[i:])
			}
			if strings.Contains(a.text, " ") {
				w.probe(a.text)
			}
		}
		w.note(TierRefuse, EffectOutside, cmdAdmin, w.part)
	}
	for _, a := range args {
		if strings.HasPrefix(a.text, "/dev/") {
			w.look(a)
		}
	}
}

func (w *cmdWalker) copiesRaw(args []cmdWord) {
	w.changes(TierAsk, EffectExecute, cmdWritesFile)
	for _, a := range args {
		key, value, _ := strings.Cut(a.text, "=")
		a.text = value
		switch key {
		case "of":
			w.overwrites(a)
			w.writes(a)
		case "if":
			w.mentions([]cmdWord{a})
		}
	}
}

func (w *cmdWalker) kills(name string, args []cmdWord) {
	if name == "kill" && (firstText(args) == "-l" || firstText(args) == "-L") {
		return
	}
	w.changes(TierAsk, EffectOutside, cmdStops)
	if name != "kill" {
		w.refuse(cmdKillsAll)
		return
	}
	for i, a := range args {
		if a.text == "1" || a.text == "0" && i > 0 || a.text == "-1" && (i > 0 || len(args) == 1) {
			w.refuse(cmdKillsAll)
		}
	}
}

func (w *cmdWalker) services(name string, args []cmdWord, text string) {
	w.changes(TierAsk, EffectOutside, cmdServices)
	verb := first(args)
	if name == "service" && len(args) > 1 {
		verb = args[1].text
	}
	switch verb {
	case "poweroff", "reboot", "halt", "suspend", "hibernate", "hybrid-sleep", "kexec", "emergency", "rescue", "isolate", "exit", "soft-reboot", "default":
		w.refuse(cmdPower)
	case "enable", "reenable", "link", "edit", "preset", "preset-all", "set-default", "add-wants", "add-requires", "enable-linger", "import-environment", "set-environment":
		w.refuse(cmdPersists)
	case "disable", "stop", "mask", "kill":
		for _, guard := range []string{"audit", "syslog", "journal", "firewall", "ufw", "apparmor", "selinux", "falcon", "clamav", "fail2ban", "crowdstrike", "defender", "nftables", "iptables", "osquery", "wazuh"} {
			if strings.Contains(text, guard) {
				w.refuse(cmdHidesTraces)
			}
		}
	}
}

var setuidMode = sys.Pattern(`^([ugoa]*[+=][rwxXt]*s|[2467][0-7]{3}$|0[2467][0-7]{3}$)`)

func (w *cmdWalker) rights(name string, args []cmdWord) {
	w.changes(TierAsk, EffectExecute, cmdChangesRights)
	ops := operands(args)
	for i, a := range args {
		mode := a.text
		if j := strings.LastIndexByte(mode, ','); j >= 0 {
			mode = mode[j+1:]
		}
		if name == "chmod" && i < 4 && (setuidMode().MatchString(mode) || setuidMode().MatchString(a.text)) {
			w.refuse(cmdSetuid)
		}
	}
	if len(ops) > 0 {
		ops = ops[1:]
	}
	recursive := hasFlag(args, "R", "recursive")
	for _, t := range ops {
		if abs, ok := w.abs(t.text); ok && recursive {
			w.deletesRights(abs)
		}
		w.touches(t, cmdChangesRights)
	}
}

func (w *cmdWalker) deletesRights(abs string) {
	bare := strings.TrimSuffix(abs, "/*")
	if bare == "" || Within(slashClean(w.home()), bare) || isSystemPath(pathFold(bare)) {
		w.refuse(cmdSystemFiles)
	}
}

func (w *cmdWalker) connects(name string, args []cmdWord, text string) {
	w.changes(TierAsk, EffectNetwork, cmdNetwork)
	w.facts.listener = true
	if hasFlag(args, "l", "listen") || strings.Contains(strings.ToLower(text), "listen") {
		w.changes(TierAsk, EffectNetwork, cmdListens)
	}
	upper := strings.ToUpper(text)
	switch {
	case name == "socat" && (strings.Contains(upper, "EXEC:") || strings.Contains(upper, "SYSTEM:") || strings.Contains(upper, "SHELL:") || strings.Contains(upper, "PTY")),
		name != "socat" && name != "telnet" && hasFlag(args, "ec", "exec", "sh-exec", "lua-exec"),
		w.stdin.shell:
		w.refuse(cmdReverseShell)
	}
	for _, op := range operands(args) {
		w.address(op.text)
	}
	w.mentions(args)
}
