package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) keysCommand() *cobra.Command {
	return c.group("keys", "Where the keys of providers are kept", "제공자 키의 보관",
		c.keysList(), c.keysImport(), c.keysPassphrase(), c.keysUnlock())
}

func (c *console) keysList() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "list", Short: c.t("Show where keys are, without the keys, and which lie unencrypted in files", "키가 어디 있는지, 암호화되지 않은 채 파일에 있는지 봅니다 (키는 보이지 않음)"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			k, err := l.Infra.Keys(ctx)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(k)
			}
			return c.showKeys(k)
		}),
	})
}

func (c *console) showKeys(k kernel.Keys) error {
	if k.Problem != nil {
		c.explain(k.Problem)
	}
	if len(k.List) > 0 {
		rows := [][]string{{c.t("PROVIDER", "제공자"), c.t("HOST", "호스트"), c.t("WHERE", "위치"), c.t("ENDS WITH", "끝자리")}}
		for _, i := range k.List {
			rows = append(rows, []string{safe(i.Name), safe(i.Host), i.Where, safe(i.Tail)})
		}
		if err := table(c.out, rows); err != nil {
			return err
		}
	}
	switch {
	case k.Locked:
		c.note("%s", c.t("The encrypted file is locked; `oxios keys unlock` opens it.", "암호화된 파일이 잠겨 있습니다. `oxios keys unlock`으로 여세요."))
	case k.Protected:
		c.note("%s", c.t("The encrypted file has a passphrase, and is open until Oxios ends.", "암호화된 파일에 암호가 있고, Oxios가 끝날 때까지 열려 있습니다."))
	default:
		c.note("%s", c.t("The encrypted file has no passphrase: it protects copies of itself, not your account. `oxios keys passphrase` sets one.", "암호화된 파일에 암호가 없습니다. 파일의 사본은 지키지만 계정은 지키지 못합니다. `oxios keys passphrase`로 정하세요."))
	}
	c.showLoose(k.Loose)
	return nil
}

// showLoose lists keys that lie in files of older programs, and why some stay there.
func (c *console) showLoose(files []kernel.LooseFile) {
	for _, f := range files {
		if f.Problem != nil {
			c.explain(f.Problem)
			continue
		}
		c.note(c.t("Unencrypted keys in %s:", "암호화되지 않은 키, %s:"), safe(f.Path))
		for _, k := range f.Keys {
			if k.Problem != nil {
				what, help := k.Problem.In(c.lang == korean)
				c.note("  %s: %s %s", safe(k.Provider), safe(what), safe(help))
				continue
			}
			c.note("  %s → %s", safe(k.Provider), safe(k.Host))
		}
		if f.Open {
			c.note("%s", c.t("  Other users of this computer can read it. Have your provider give you new keys.", "  이 컴퓨터의 다른 사용자가 읽을 수 있습니다. 제공자에게서 새 키를 받으세요."))
		}
	}
}

func (c *console) keysImport() *cobra.Command {
	var yes, leave bool
	cmd := &cobra.Command{
		Use: "import", Short: c.t("Take over keys that lie unencrypted in ~/.oxi/auth.json or an old config.toml", "~/.oxi/auth.json이나 예전 config.toml에 암호화되지 않은 채 있는 키를 옮겨 옵니다"), Args: c.args(0, 0),
		Long: c.t("Each key goes to the keyring or the encrypted file, is bound to the host of its provider, and leaves its file, which otherwise stays as it is.\nOther programs that read the file then ask for the key. What cannot be taken over stays, and is told.",
			"각 키는 키링이나 암호화된 파일로 가고, 제공자의 호스트에만 쓰이며, 원래 파일에서는 지워집니다. 파일의 나머지는 그대로입니다.\n그 파일을 읽는 다른 프로그램은 키를 다시 묻습니다. 옮길 수 없는 것은 그대로 두고 알립니다."),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			if leave {
				k, err := l.Infra.LeaveKeys(ctx)
				if err != nil {
					return err
				}
				if c.json {
					return c.writeJSON(k)
				}
				c.note("%s", c.t("They stay where they are, and nothing reminds of them.", "그대로 두며 더는 알리지 않습니다."))
				return nil
			}
			return c.importKeys(ctx, l, yes)
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, c.t("do not ask", "묻지 않습니다"))
	cmd.Flags().BoolVar(&leave, "leave", false, c.t("leave them there, and have nothing remind of them", "그대로 두고 더는 알리지 않습니다"))
	return c.withJSON(cmd)
}

func (c *console) importKeys(ctx context.Context, l *link, yes bool) error {
	if !yes {
		k, err := l.Infra.Keys(ctx)
		if err != nil {
			return err
		}
		if len(k.Loose) == 0 {
			c.note("%s", c.t("No unencrypted keys were found.", "암호화되지 않은 키가 없습니다."))
			return nil
		}
		c.showLoose(k.Loose)
		if err := c.sure(c.t("Take them over, and out of their files?", "옮겨 오고 파일에서는 지울까요?")); err != nil {
			return err
		}
	}
	r, err := l.Infra.ImportKeys(ctx)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(r)
	}
	for _, i := range r.Imported {
		c.printf(c.t("%s → %s: in the %s now, and gone from %s", "%s → %s: 이제 %s에 있고 %s에서는 지웠습니다"), safe(i.Provider), safe(i.Host), i.Where, safe(i.File))
		if i.Open {
			c.note("%s", c.t("  Other users of this computer could read it there. Have your provider give you a new key.", "  이 컴퓨터의 다른 사용자가 읽을 수 있었습니다. 제공자에게서 새 키를 받으세요."))
		}
	}
	if len(r.Imported) == 0 {
		c.note("%s", c.t("No key was taken over.", "옮겨 온 키가 없습니다."))
	}
	c.showLoose(r.Files)
	return nil
}

func (c *console) keysPassphrase() *cobra.Command {
	var stdin, remove bool
	cmd := &cobra.Command{
		Use: "passphrase", Short: c.t("Set, change or remove the passphrase of the encrypted file", "암호화된 파일의 암호를 정하거나 바꾸거나 없앱니다"), Args: c.args(0, 0),
		Long: c.t("With a passphrase, keys in the encrypted file can be used only after it was given, once after each start of Oxios.\nNobody can recover it. Copies of the folder that were made before still open without it. Keys in the keyring are not part of it.",
			"암호를 정하면 Oxios를 시작할 때마다 한 번 입력해야 암호화된 파일의 키를 쓸 수 있습니다.\n암호는 누구도 되찾을 수 없습니다. 그 전에 만든 폴더의 사본은 암호 없이 열립니다. 키링의 키와는 관계없습니다."),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			now, err := l.Infra.Keys(ctx)
			if err != nil {
				return err
			}
			ask := c.secrets(stdin)
			var in kernel.PassphraseInput
			if now.Protected {
				if in.Current, err = ask(c.t("Passphrase now: ", "현재 암호: ")); err != nil {
					return err
				}
			}
			if !remove {
				c.note("%s", c.t("Nobody can recover a passphrase that is forgotten: the keys would have to be entered again.", "암호를 잊으면 누구도 되찾을 수 없고 키를 다시 입력해야 합니다."))
				if in.Next, err = ask(c.t("New passphrase: ", "새 암호: ")); err != nil {
					return err
				}
				if !stdin {
					again, err := ask(c.t("Once more: ", "한 번 더: "))
					if err != nil {
						return err
					}
					if again != in.Next {
						return c.fail(sys.CodeInvalid, c.t("The two are not the same. Nothing was changed.", "두 암호가 다릅니다. 아무것도 바꾸지 않았습니다."), "")
					}
				}
			}
			k, err := l.Infra.SetKeyPassphrase(ctx, in)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(k)
			}
			if remove {
				c.note("%s", c.t("The encrypted file has no passphrase any more.", "암호화된 파일에 더는 암호가 없습니다."))
			} else {
				c.note("%s", c.t("The passphrase is set. It is asked for once after each start.", "암호를 정했습니다. 시작할 때마다 한 번 묻습니다."))
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&stdin, "stdin", false, c.t("read from standard input: the passphrase of now, if there is one, then the new one, each on a line", "표준 입력에서 읽습니다: 있으면 현재 암호, 그다음 새 암호를 한 줄씩"))
	cmd.Flags().BoolVar(&remove, "remove", false, c.t("remove it", "암호를 없앱니다"))
	return c.withJSON(cmd)
}

func (c *console) keysUnlock() *cobra.Command {
	var stdin bool
	cmd := &cobra.Command{
		Use: "unlock", Short: c.t("Open the encrypted file with its passphrase until Oxios ends", "Oxios가 끝날 때까지 암호화된 파일을 엽니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			if l.own != nil {
				return c.fail(sys.CodeUnavailable, c.t("Oxios is not running, so there is nothing to unlock.", "Oxios가 실행 중이 아니어서 풀 잠금이 없습니다."),
					c.t("Start it with `oxios serve` or the window; `oxios run` asks for the passphrase by itself.", "`oxios serve`나 창으로 시작하세요. `oxios run`은 스스로 암호를 묻습니다."))
			}
			passphrase, err := c.secrets(stdin)(c.t("Passphrase of the keys: ", "키의 암호: "))
			if err != nil {
				return err
			}
			k, err := l.Infra.UnlockKeys(ctx, passphrase)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(k)
			}
			c.note("%s", c.t("The keys are unlocked until Oxios ends.", "Oxios가 끝날 때까지 키의 잠금을 풀었습니다."))
			return nil
		}),
	}
	cmd.Flags().BoolVar(&stdin, "stdin", false, c.t("read it from standard input", "표준 입력에서 읽습니다"))
	return c.withJSON(cmd)
}

// unlockHere asks for the passphrase where the kernel is our own and a run would
// fail without it. Whoever gives none goes on: its provider may need no key.
func (c *console) unlockHere(ctx context.Context, l *link) error {
	if l.own == nil {
		return nil
	}
	k, err := l.Infra.Keys(ctx)
	if err != nil || !k.Locked {
		return err
	}
	passphrase, err := c.secrets(false)(c.t("Passphrase of the keys (Enter goes on without): ", "키의 암호 (Enter: 없이 계속): "))
	if err != nil || passphrase == "" {
		return err
	}
	_, err = l.Infra.UnlockKeys(ctx, passphrase)
	return err
}

// secrets returns a function that reads one line that nobody sees, from the
// terminal or, where stdin says so, from standard input. Arguments are no place
// for it: other users see those.
func (c *console) secrets(stdin bool) func(prompt string) (string, error) {
	in := bufio.NewReader(io.LimitReader(c.in, 64<<10))
	return func(prompt string) (string, error) {
		if !stdin {
			if !c.terminal(c.in) {
				return "", c.fail(sys.CodeInvalid, c.t("There is no terminal to ask for the passphrase.", "암호를 물을 터미널이 없습니다."), c.t("Use --stdin to read it from standard input.", "--stdin으로 표준 입력에서 읽을 수 있습니다."))
			}
			fmt.Fprint(c.err, prompt)
			if f, ok := c.in.(*os.File); ok {
				restore, err := hush(f)
				if err != nil {
					return "", fmt.Errorf("hide the passphrase: %w", err)
				}
				defer restore()
			}
		}
		line, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read the passphrase: %w", err)
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
}
