package tools

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/retrieval"
	"oxios/kernel/sys"
)

// maxSkills is how many skills the capability index names: those that fit what a run is asked for.
const maxSkills = 8

type skillArgs struct {
	Name string `json:"name" jsonschema:"of the skill, as the capability index has it"`
	File string `json:"file,omitempty" jsonschema:"one of its files; left out for its instructions"`

	Run      string   `json:"run,omitempty" jsonschema:"instead of reading: runs one of its scripts in the folder"`
	Args     []string `json:"args,omitempty" jsonschema:"the arguments of the script, as they are"`
	Input    any      `json:"input,omitempty" jsonschema:"JSON for a module, a file that ends in .wasm: instead of args"`
	TimeoutS int      `json:"timeout_s,omitempty" jsonschema:"seconds after which the script is ended; default 120"`
	Reason   string   `json:"reason,omitempty" jsonschema:"what the script is run for, in one sentence for the person"`
}

var skillMaker = maker{
	name: "skill", domain: "skills", calls: []string{"skills.read", "skills.module", "exec.script"},
	about: "Reads how a kind of work is done, and runs the scripts for it.",
	terms: "스킬 방법 절차 지침 프로그램 program how to guide procedure skill",
	when:  func(at kernel.Workplace) bool { return len(at.Skills) > 0 },
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("skill", "Reads a skill: instructions for a kind of work, by its name in the capability index. Read it before you begin such work. Its scripts are run with this tool too, not with exec.", nil, skillTitle,
			func(ctx context.Context, in skillArgs) (agent.Result, error) {
				switch {
				case in.Run != "" && kernel.IsModule(in.Run):
					return runModule(ctx, h, in)
				case in.Run != "":
					return runScript(ctx, h, in)
				}
				t, err := h.Skills.Read(ctx, in.Name, in.File)
				if err != nil {
					return agent.Result{}, err
				}
				text := t.Text
				if len(t.Files) > 0 {
					text += "\n\nFiles of this skill: " + strings.Join(t.Files, ", ") + "\n(Read one with file. Run a script with run and args: it works in the folder. Run a module, .wasm, with run and input.)"
				}
				return agent.Result{Text: text, Title: sys.Say("Read the skill %s", t.Name)}, nil
			})
	},
}

func skillTitle(in skillArgs) sys.Words {
	if in.Run != "" {
		return sys.Say("Run %s of the skill %s", in.Run, in.Name)
	}
	return sys.Say("Read the skill %s", in.Name)
}

func runScript(ctx context.Context, h *kernel.Handle, in skillArgs) (agent.Result, error) {
	if in.Input != nil {
		return agent.Result{}, sys.Errorf(sys.CodeInvalid, "A script takes args, and no input. Nothing was run.").WithHint("Put what it needs into args.")
	}
	if in.File != "" {
		return agent.Result{}, sys.Errorf(sys.CodeInvalid, "Both file and run are given. Nothing was done.").WithHint("Give one of them.")
	}
	r, err := h.Exec.Script(ctx, kernel.ScriptArgs{Skill: in.Name, Script: in.Run, Args: in.Args, TimeoutS: in.TimeoutS, Reason: in.Reason})
	if err != nil {
		return agent.Result{Text: strings.TrimRight(r.Output, "\n")}, err
	}
	out := ran(execArgs{}, r)
	out.Title = sys.Say("Ran %s of the skill %s", in.Run, in.Name)
	return out, nil
}

// runModule calls a module: it computes its answer, and nothing else.
func runModule(ctx context.Context, h *kernel.Handle, in skillArgs) (agent.Result, error) {
	if in.File != "" || len(in.Args) > 0 {
		return agent.Result{}, sys.Errorf(sys.CodeInvalid, "A module takes input alone. Nothing was run.").WithHint("Put all that it needs into input.")
	}
	call := kernel.ModuleArgs{Skill: in.Name, Module: in.Run}
	if in.Input != nil {
		raw, err := json.Marshal(in.Input)
		if err != nil {
			return agent.Result{}, err
		}
		call.Input = raw
	}
	r, err := h.Skills.Module(ctx, call)
	if err != nil {
		return agent.Result{}, err
	}
	return agent.Result{Text: string(r.Output), Title: sys.Say("Ran %s of the skill %s", in.Run, in.Name)}, nil
}

// fittingSkills are the skills that fit a goal, the best first; before them the one that the person named as /name.
func fittingSkills(all []kernel.SkillView, goal string) (out []kernel.SkillView, named string) {
	first, _, _ := strings.Cut(strings.TrimSpace(goal), " ")
	if name, ok := strings.CutPrefix(first, "/"); ok {
		if i := slices.IndexFunc(all, func(v kernel.SkillView) bool { return v.Name == name && v.UserInvocable }); i >= 0 {
			named = name
		}
	}
	key := sha256.New()
	for _, v := range all {
		fmt.Fprintf(key, "%s\x00%s\x00", v.Name, v.Description)
	}
	names := skillIndex.of([32]byte(key.Sum(nil)), func() *Retriever {
		infos := make([]described, len(all))
		for i, v := range all {
			infos[i] = described{id: v.Name, name: v.Name, about: v.Description}
		}
		return retrieverOf(retrieval.NewTopical(), infos)
	}).Find(goal, maxSkills)
	if named != "" {
		names = append([]string{named}, slices.DeleteFunc(names, func(n string) bool { return n == named })...)
	}
	for _, name := range names {
		i := slices.IndexFunc(all, func(v kernel.SkillView) bool { return v.Name == name })
		out = append(out, all[i])
	}
	return out, named
}

// skillsSection is what the capability index says of skills.
func skillsSection(list []kernel.SkillView, named string) string {
	var b strings.Builder
	for _, v := range list {
		fmt.Fprintf(&b, "<capability><name>%s</name><category>skill</category><description>%s</description><skill>%s</skill></capability>\n",
			escape(v.Name), escape(sys.Shorten(v.Description, 400)), escape(v.Name))
	}
	if named != "" {
		fmt.Fprintf(&b, "<asked>The person asks for the skill %s: read it first.</asked>\n", escape(named))
	}
	return b.String()
}
