package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// shellAsks starts a command that asks, and returns its request and its end.
func shellAsks(t *testing.T, k *kerneltest.Kernel, h *kernel.Handle, in kernel.ShellArgs) (kernel.Approval, <-chan shellEnd) {
	t.Helper()
	done := make(chan shellEnd, 1)
	go func() {
		r, err := h.Exec.Shell(context.WithoutCancel(t.Context()), in)
		done <- shellEnd{r, err}
	}()
	return k.Approval(h.Principal().ID), done
}

type shellEnd struct {
	r   kernel.ExecResult
	err error
}

// next waits for the request that comes in the place of another one.
func next(t *testing.T, k *kerneltest.Kernel, old kernel.Approval) (found kernel.Approval) {
	t.Helper()
	k.Until("it is asked again", func() bool {
		list, err := k.Person().Security.Approvals(t.Context(), kernel.ApprovalQuery{State: "pending", RunID: old.Request.RunID})
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 || list[0].ID == old.ID {
			return false
		}
		found = list[0]
		return true
	})
	return found
}

// shellEnded waits for the end of a command.
func shellEnded(t *testing.T, done <-chan shellEnd) shellEnd {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	select {
	case end := <-done:
		return end
	case <-ctx.Done():
		t.Fatal("the command goes on, or asks")
	}
	return shellEnd{}
}

func approveOnce(t *testing.T, k *kerneltest.Kernel, ap kernel.Approval, scope string) {
	t.Helper()
	if _, err := k.Person().Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: ap.Request.Hash, Scope: scope}); err != nil {
		t.Fatal(err)
	}
}

func denyAsked(t *testing.T, k *kerneltest.Kernel, ap kernel.Approval) {
	t.Helper()
	if _, err := k.Person().Security.Deny(t.Context(), ap.ID, ""); err != nil {
		t.Fatal(err)
	}
}

func TestWhatAnApprovedCommandRunsIsWhatWasThereWhenItWasAsked(t *testing.T) {
	t.Parallel()
	k := open(t)
	for _, c := range []struct{ line, file string }{
		{"bash install", "install"},
		{"sh setup.txt", "setup.txt"},
		{"bash -eu -o pipefail install a b", "install"},
		{"bash --rcfile rc.txt -i -c true", "rc.txt"},
		{"dash ./deep/run", "deep/run"},
		{"python3 tool", "tool"},
		{"python3 -u -W ignore tool data.csv", "tool"},
		{"python3 -m pkg", "pkg/__main__.py"},
		{"python3 -m pkg", "pkg.py"},
		{"python3 -m pkg.sub", "pkg/sub.py"},
		{"PYTHONPATH=lib python3 -m pkg", "pkg/__init__.py"},
		{"python3 app", "app/__main__.py"},
		{"perl run.txt", "run.txt"},
		{"perl -Ilib -MHelper -e 'x()'", "lib/Helper.pm"},
		{"ruby -r ./pre main", "pre.rb"},
		{"ruby main", "main"},
		{"node --require ./hook tool", "hook.js"},
		{"node main", "main.js"},
		{"node main.js", "package.json"},
		{"php page.txt", "page.txt"},
		{"lua script", "script"},
		{"awk -f prog data.csv", "prog"},
		{"gawk --file=prog data.csv", "prog"},
		{"awk '@include \"lib.awk\"; {print}' data.csv", "lib.awk"},
		{"sed -n -f edits data.csv", "edits"},
		{"jq -f filter data.json", "filter"},
		{"make all", "Makefile"},
		{"make all", "GNUmakefile"},
		{"make -f rules", "rules"},
		{"make -C sub", "sub/Makefile"},
		{"make -C sub -f rules", "sub/rules"},
		{"cd sub && make", "sub/Makefile"},
		{"just build", "justfile"},
		{"npm test", "package.json"},
		{"npm test", ".npmrc"},
		{"npm --prefix web test", "web/package.json"},
		{"pnpm run build", "pnpm-workspace.yaml"},
		{"yarn build", ".yarnrc.yml"},
		{"bun run tool.ts", "tool.ts"},
		{"npx jest", "jest.config.js"},
		{"go test ./...", "go.mod"},
		{"go run main.go", "main.go"},
		{"cargo build", "Cargo.toml"},
		{"cargo test", ".cargo/config.toml"},
		{"pytest -q", "conftest.py"},
		{"python3 -m pytest", "pytest.ini"},
		{"pytest tests/test_a.py::test_b", "tests/test_a.py"},
		{"./gradlew build", "gradlew"},
		{"gradle build", "build.gradle.kts"},
		{"mvn package", "pom.xml"},
		{"tox", "tox.ini"},
		{"rake", "Rakefile"},
		{"composer run x", "composer.json"},
		{"deno task dev", "deno.json"},
		{"task build", "Taskfile.yml"},
		{"cmake -S . -B out", "CMakeLists.txt"},
		{"ninja -C out", "out/build.ninja"},
		{"bazel build //x", "MODULE.bazel"},
		{"gcc -o app app.c", "app.c"},
		{"dotnet build", "app.csproj"},
		{"git apply p", "p"},
		{"git apply --index fix.txt", "fix.txt"},
		{"git am mail", "mail"},
		{"git commit -m x", ".git/hooks/pre-commit"},
		{"patch -p1 < p", "p"},
		{"patch -i p", "p"},
		{"cat p | git apply", "p"},
		{"cat tool | python3 -", "tool"},
		{"python3 < tool", "tool"},
		{". ./env", "env"},
		{"source env", "env"},
		{"bash -c 'source env && ls'", "env"},
		{"eval \"$(cat lines)\"", "lines"},
		{"X=$(cat lines); bash -c \"$X\"", "lines"},
		{"bash <(cat lines)", "lines"},
		{"F=install; bash $F", "install"},
		{"timeout 5 bash install", "install"},
		{"nice -n 5 make", "Makefile"},
		{"env A=b nohup sh install", "install"},
		{"env -C sub bash install", "sub/install"},
		{"uv run tool.py", "tool.py"},
		{"cd sub && bash install", "sub/install"},
		{"cd \"$NOWHERE\" && bash install", "sub/install"},
		{"cd */ && make", "sub/Makefile"},
		{"bash *.sh", "b.sh"},
		{"find . -name x -exec bash install {} \\;", "install"},
		{"ls | xargs -n1 bash install", "install"},
		{"f() { bash install; }; f", "install"},
		{"if true; then bash install; fi", "install"},
		{"./run", "run"},
		{"mytool --config cfg data.csv", "cfg"},
		{"BASH_ENV=pre bash -c 'ls'", "pre"},
		{"vim -es -S edits notes.txt", "edits"},
		{"sqlite3 my.db < change", "change"},
		{"python3 -c 'exec(open(\"tool\").read())'", "tool"},
		{"python3 -c 'import os, helper as h'", "helper.py"},
		{"python3 -c 'from pkg.sub import x'", "pkg/sub.py"},
		{"python3 -c 'import sys; sys.path.insert(0, \"lib\"); import a'", "lib/a.py"},
		{"python3 -c 'import subprocess; subprocess.run([\"bash\", \"install\"])'", "install"},
		{"python3 <<< 'import helper'", "helper.py"},
		{"node -e 'require(\"./lib/x\")'", "lib/x.js"},
		{"perl -e 'do \"./run.txt\"'", "run.txt"},
		{"perl -Ilib -e 'use A::B; go()'", "lib/A/B.pm"},
		{"ruby -e 'require_relative \"main\"'", "main.rb"},
		{"php -r 'include \"page.txt\";'", "page.txt"},
		{"Rscript -e 'source(\"model.R\")'", "model.R"},
		{"awk 'BEGIN { system(\"sh install\") }'", "install"},
		{"sed '1e sh install' data.csv", "install"},
		{"jq -L lib 'include \"a\"; .' data.json", "lib/a.jq"},
		{"sqlite3 my.db '.read change'", "change"},
		{"sqlite3 -init change my.db", "change"},
		{"psql -c '\\i change'", "change"},
		{"vim -c 'source edits' notes.txt", "edits"},
		{"gdb -ex 'source cmds' app", "cmds"},
		{"tmux -f conf.txt new -d", "conf.txt"},
		{"docker compose up", "compose.yaml"},
		{"tar -c --checkpoint=1 --checkpoint-action=exec='sh install' -f a.tar data.csv", "install"},
		{"tar -cI ./pack -f a.tar data.csv", "pack"},
		{"tar -xf a.tar --to-comm=./each", "each"},
		{"tar -cf a.tar -T list", "list"},
		{"rsync -e ./shell data.csv h:", "shell"},
		{"rsync -ae 'sh shell' data.csv h:", "shell"},
		{"ssh -o ProxyCommand=./proxy h", "proxy"},
		{"ssh -oProxyCommand='sh proxy %h' h", "proxy"},
		{"ssh h bash -s < install", "install"},
		{"cat install | ssh h sh", "install"},
		{"sftp -b steps h", "steps"},
		{"mongosh change", "change"},
		{"redis-cli --eval change", "change"},
		{"pandoc --lua-filter change data.csv", "change"},
		{"sort --compress-program=./pack data.csv", "pack"},
		{"split --filter='sh each' data.csv", "each"},
		{"rg --pre ./each x", "each"},
		{"tmux -f conf", "conf"},
		{"tmux source-file conf", "conf"},
		{"sqlite3 -init change my.db", "change"},
		{"sqlite3 my.db '.read change'", "change"},
		{"psql -c '\\i change'", "change"},
		{"docker build sub", "sub/Dockerfile"},
		{"cmake sub", "sub/CMakeLists.txt"},
		{"helm install x sub", "sub/Chart.yaml"},
		{"pip install ./sub", "sub/setup.py"},
		{"npm install ./sub", "sub/package.json"},
		{"eslint sub", "sub/.eslintrc.js"},
		{"pytest sub", "sub/conftest.py"},
		{"pip install ./pkg.whl", "pkg.whl"},
		{"dpkg -i pkg.deb", "pkg.deb"},
		{"dotnet build app.proj", "app.proj"},
	} {
		for _, missing := range []bool{false, true} {
			name := c.line + " " + c.file
			if missing {
				name += " appears"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				folder := t.TempDir()
				write(t, filepath.Join(folder, "sub", "keep.txt"), "")
				write(t, filepath.Join(folder, "data.csv"), "1,2\n")
				file := filepath.Join(folder, filepath.FromSlash(c.file))
				if !missing {
					write(t, file, "echo GOOD\n")
				}
				ap, done := shellAsks(t, k, k.AgentIn(folder, "ask"), kernel.ShellArgs{Command: c.line})
				if ap.Request.Again != "" {
					t.Errorf("the first request says %q", ap.Request.Again)
				}
				write(t, filepath.Join(folder, "data.csv"), "3,4\n")
				write(t, file, "echo EVIL\n")
				approveOnce(t, k, ap, "once")
				more := next(t, k, ap)
				if base := filepath.Base(file); !strings.Contains(more.Request.Again, base) || more.Request.AgainKO == "" || !strings.Contains(more.Request.Diff, "+echo EVIL") {
					t.Errorf("got again %q, diff %q", more.Request.Again, more.Request.Diff)
				}
				if old, err := k.Person().Security.Approval(t.Context(), ap.ID); err != nil || old.State != "canceled" {
					t.Errorf("the first request is %q, %v", old.State, err)
				}
				denyAsked(t, k, more)
				wantCode(t, c.line, shellEnded(t, done).err, sys.CodeDenied)
			})
		}
	}
}

func TestDataThatThePersonChangesDoesNotBringARequestBack(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	for _, line := range []string{"bash run data.csv", "awk -f prog data.csv", "sed -f edits data.csv", "python3 tool data.csv", "cat lib.py; bash run < data.csv"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			for _, f := range []string{"run", "prog", "edits", "tool", "data.csv", "lib.py"} {
				write(t, filepath.Join(folder, f), "")
			}
			ap, done := shellAsks(t, k, k.AgentIn(folder, "ask"), kernel.ShellArgs{Command: line})
			write(t, filepath.Join(folder, "data.csv"), "1\n")
			write(t, filepath.Join(folder, "lib.py"), "x = 1\n")
			approveOnce(t, k, ap, "once")
			if end := shellEnded(t, done); end.err != nil || end.r.ExitCode != 0 {
				t.Errorf("got %+v, %v", end.r, end.err)
			}
		})
	}
}

func TestCodeThatAnAgentWritesMeanwhileBringsTheRequestBack(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	write(t, filepath.Join(k.Folder, "main.py"), "import lib\n")
	write(t, filepath.Join(k.Folder, "lib.py"), "print('GOOD')\n")
	write(t, filepath.Join(k.Folder, ".gitignore"), "out/\n")
	ap, done := shellAsks(t, k, k.Agent("guarded"), kernel.ShellArgs{Command: "python3 main.py"})
	if !ap.Request.Project {
		t.Error("the request does not say that it runs code of the folder")
	}
	other := k.Agent("guarded")
	for _, f := range []kernel.WriteArgs{{Path: "lib.py", Content: "print('EVIL')\n"}, {Path: "out/x.py", Content: "x\n"}, {Path: "node_modules/x.js", Content: "x\n"}} {
		if _, err := other.Exec.Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	approveOnce(t, k, ap, "once")
	more := next(t, k, ap)
	if r := more.Request; !strings.Contains(r.Again, "lib.py") || strings.Contains(r.Again, "x.") || !strings.Contains(r.Diff, "-print('GOOD')") || !strings.Contains(r.Diff, "+print('EVIL')") || strings.Contains(r.Diff, "node_modules") {
		t.Errorf("got again %q, diff %q", r.Again, r.Diff)
	}
	approveOnce(t, k, more, "once")
	if end := shellEnded(t, done); end.err != nil || end.r.Output != "EVIL\n" {
		t.Errorf("got %+v, %v", end.r, end.err)
	}
}

func TestCodeThatACommandInTheBackgroundWritesBringsTheRequestBack(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	write(t, filepath.Join(k.Folder, "main.py"), "import lib\n")
	write(t, filepath.Join(k.Folder, "lib.py"), "GOOD = 1\n")
	h := k.Agent("autonomous")
	job, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "until test -e go.txt; do sleep 0.05; done; echo EVIL=1 > lib.py; touch gone.txt; sleep 60", Background: true})
	if err != nil {
		t.Fatal(err)
	}
	ap, done := shellAsks(t, k, k.Agent("guarded"), kernel.ShellArgs{Command: "python3 main.py"})
	write(t, filepath.Join(k.Folder, "go.txt"), "")
	k.Until("the command has written", func() bool {
		_, err := os.Stat(filepath.Join(k.Folder, "gone.txt"))
		return err == nil
	})
	approveOnce(t, k, ap, "once")
	more := next(t, k, ap)
	if r := more.Request; !strings.Contains(r.Again, "lib.py") || !strings.Contains(r.Diff, "+EVIL=1") {
		t.Errorf("got again %q, diff %q", r.Again, r.Diff)
	}
	denyAsked(t, k, more)
	shellEnded(t, done)
	if err := h.Exec.KillJob(t.Context(), job.JobID); err != nil {
		t.Fatal(err)
	}
}

func TestARunDoesNotWriteWhatItsOwnCommandWaitsToRun(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	write(t, filepath.Join(k.Folder, "install"), "echo GOOD\n")
	h, other := k.Agent("guarded"), k.Agent("guarded")
	ap, done := shellAsks(t, k, h, kernel.ShellArgs{Command: "bash install"})
	_, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "install", Content: "echo EVIL\n"})
	wantCode(t, "write", err, sys.CodeConflict, "waits for the person", "Nothing was written")
	_, err = h.Exec.Edit(t.Context(), kernel.EditArgs{Path: "install", Old: "GOOD", New: "EVIL"})
	wantCode(t, "edit", err, sys.CodeConflict)
	for _, line := range []string{"echo EVIL > install", "cp x install", "mv x ./install", "sed -i s/GOOD/EVIL/ install", "tee install < x", "rm install"} {
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		_, err = h.Exec.Shell(ctx, kernel.ShellArgs{Command: line})
		stop()
		wantCode(t, line, err, sys.CodeConflict)
	}
	if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "other.txt", Content: "x\n"}); err != nil {
		t.Errorf("another file: %v", err)
	}
	if _, err := other.Exec.Write(t.Context(), kernel.WriteArgs{Path: "install", Content: "echo EVIL\n"}); err != nil {
		t.Errorf("a run that has nothing to do with it: %v", err)
	}
	approveOnce(t, k, ap, "once")
	more := next(t, k, ap)
	denyAsked(t, k, more)
	wantCode(t, "denied", shellEnded(t, done).err, sys.CodeDenied)
	if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "install", Content: "echo x\n"}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestApprovedForTheRunAsksAgainWhenWhatItRunsChanges(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	path := filepath.Join(k.Folder, "install")
	write(t, path, "echo GOOD\n")
	h := k.Agent("guarded")
	ap, done := shellAsks(t, k, h, kernel.ShellArgs{Command: "bash install"})
	approveOnce(t, k, ap, "run")
	if end := shellEnded(t, done); end.err != nil || end.r.Output != "GOOD\n" {
		t.Fatalf("got %+v, %v", end.r, end.err)
	}
	free(t, h, "bash install")
	if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "install", Content: "echo EVIL\n"}); err != nil {
		t.Fatal(err)
	}
	more, done := shellAsks(t, k, h, kernel.ShellArgs{Command: "bash install"})
	if r := more.Request; !strings.Contains(r.Again, "install") || !strings.Contains(r.Diff, "-echo GOOD") || !strings.Contains(r.Diff, "+echo EVIL") {
		t.Errorf("got again %q, diff %q", r.Again, r.Diff)
	}
	denyAsked(t, k, more)
	wantCode(t, "denied", shellEnded(t, done).err, sys.CodeDenied)
	write(t, path, "echo GOOD\n")
	free(t, h, "bash install") // as it was approved
}

func TestToolsOfAProjectAreNotApprovedForARunWithTheNetworkOrUncontained(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		k    *kerneltest.Kernel
		in   kernel.ShellArgs
		want bool
	}{
		"uncontained": {open(t, kerneltest.Uncontained()), kernel.ShellArgs{Command: "make all"}, true},
		"network":     {open(t), kernel.ShellArgs{Command: "make all", Network: true}, true},
		"contained":   {open(t), kernel.ShellArgs{Command: "make all"}, false},
		"no tool":     {open(t, kerneltest.Uncontained()), kernel.ShellArgs{Command: "bash install"}, false},
	} {
		if what == "contained" {
			contained(t, c.k)
		}
		ap, done := shellAsks(t, c.k, c.k.Agent("ask"), c.in)
		if ap.Request.NoRun != c.want {
			t.Errorf("%s: got no_run %v", what, ap.Request.NoRun)
		}
		if c.want {
			_, err := c.k.Person().Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: ap.Request.Hash, Scope: "run"})
			wantCode(t, what, err, sys.CodeRefused, "Nothing was decided")
		}
		denyAsked(t, c.k, ap)
		shellEnded(t, done)
	}
}
