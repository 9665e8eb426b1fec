package a2a

import (
	"slices"
	"strings"
	"unicode"
)

// Card says who an agent is and what it can be asked for. A run has one while
// it is live.
type Card struct {
	ID           string   `json:"id"` // the run
	PID          int64    `json:"pid"`
	Name         string   `json:"name"`
	Description  string   `json:"description"`  // its goal, shortened
	Capabilities []string `json:"capabilities"` // the ids of its skills; served outside they are the tags of the card's skills
	Skills       []Skill  `json:"skills"`

	SessionID string `json:"session_id"`
	ParentID  string `json:"parent_id,omitempty"`
	Profile   string `json:"profile"` // its rights
}

// Skill is one thing that an agent can do.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	NameKO      string   `json:"name_ko,omitempty"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`   // other words for it
	Source      string   `json:"source"` // goal: it was started for this; tools: it has the tools for it
}

// The sources of a [Skill].
const (
	SourceGoal  = "goal"
	SourceTools = "tools"
)

// ability is a skill that can be inferred.
type ability struct {
	id, name, ko, about string
	english             []string // a word of the goal begins with one of these
	korean              []string // one of these stands in the goal; particles and endings follow it
	tools               []string // or: the run has one of these tools
}

var abilities = []ability{
	{id: "code-review", name: "Code review", ko: "코드 리뷰", about: "Reads code and says what is wrong with it.", english: []string{"review", "inspect"}, korean: []string{"리뷰", "검토"}},
	{id: "testing", name: "Testing", ko: "테스트", about: "Writes and runs tests.", english: []string{"test", "verif", "qa"}, korean: []string{"테스트", "시험", "검증"}},
	{id: "debugging", name: "Debugging", ko: "디버깅", about: "Finds the cause of a failure and mends it.", english: []string{"debug", "bug", "fix", "crash", "diagnos"}, korean: []string{"디버그", "디버깅", "버그", "오류", "고쳐", "고치", "수정"}},
	{id: "refactoring", name: "Refactoring", ko: "리팩터링", about: "Changes the form of code and keeps what it does.", english: []string{"refactor", "cleanup", "simplif", "restructur"}, korean: []string{"리팩터", "리팩토", "구조 개선", "단순화"}},
	{id: "coding", name: "Coding", ko: "코딩", about: "Writes programs.", english: []string{"implement", "code", "coding", "program", "develop", "build"}, korean: []string{"구현", "개발", "코드", "코딩", "프로그램"}},
	{id: "writing", name: "Writing", ko: "글쓰기", about: "Writes texts and documentation.", english: []string{"write", "writing", "draft", "document", "readme", "essay", "report"}, korean: []string{"작성", "문서", "초안", "보고서", "글을", "써 줘", "써줘"}},
	{id: "research", name: "Research", ko: "조사", about: "Finds out and names its sources.", english: []string{"research", "investigat", "search", "find", "look", "explor", "compar"}, korean: []string{"조사", "검색", "찾아", "찾기", "알아", "비교"}},
	{id: "analysis", name: "Analysis", ko: "분석", about: "Takes data apart and says what it shows.", english: []string{"analy", "data", "statistic", "measur", "benchmark", "chart"}, korean: []string{"분석", "데이터", "통계", "측정"}},
	{id: "translation", name: "Translation", ko: "번역", about: "Says a text in another language.", english: []string{"translat", "localiz", "localis"}, korean: []string{"번역", "현지화"}},
	{id: "summarizing", name: "Summarizing", ko: "요약", about: "Says the same in fewer words.", english: []string{"summar", "digest", "shorten"}, korean: []string{"요약", "정리"}},
	{id: "planning", name: "Planning", ko: "계획", about: "Says in which steps something can be done.", english: []string{"plan", "roadmap", "schedul", "organi"}, korean: []string{"계획", "일정", "로드맵"}},
	{id: "design", name: "Design", ko: "설계", about: "Says how something should be made.", english: []string{"design", "architect", "mockup", "layout"}, korean: []string{"설계", "디자인", "아키텍처"}},
	{id: "security", name: "Security", ko: "보안", about: "Looks for weaknesses.", english: []string{"secur", "vulnerab", "audit", "threat"}, korean: []string{"보안", "취약점", "감사"}},

	{id: "read-files", name: "Reading files", ko: "파일 읽기", about: "Reads and searches the files of its folder.", tools: []string{"read", "grep", "find", "ls"}},
	{id: "write-files", name: "Writing files", ko: "파일 쓰기", about: "Writes and changes files of its folder.", tools: []string{"write", "edit"}},
	{id: "run-commands", name: "Running commands", ko: "명령 실행", about: "Runs programs.", tools: []string{"exec"}},
	{id: "start-agents", name: "Starting agents", ko: "에이전트 만들기", about: "Starts other agents for parts of its work.", tools: []string{"agent"}},
}

func (a ability) skill(source string) Skill {
	return Skill{ID: a.id, Name: a.name, NameKO: a.ko, Description: a.about, Tags: slices.Concat([]string{}, a.english, a.korean, a.tools), Source: source}
}

// Skills infers what an agent can be asked for from its goal and from the names
// of the tools that its profile gives it. The rule: a skill follows from the goal
// when one of its English words begins a word of the goal ("test" in "tests" and
// "Testing"), or when one of its Korean stems stands anywhere in it ("검토" in
// "검토해 줘"); a skill follows from the tools when the run has one of its tools.
// Those of the goal come first. No model is asked.
func Skills(goal string, tools []string) []Skill {
	out := []Skill{}
	for _, a := range inferred(goal) {
		out = append(out, a.skill(SourceGoal))
	}
	for _, a := range abilities {
		if slices.ContainsFunc(a.tools, func(t string) bool { return slices.Contains(tools, t) }) {
			out = append(out, a.skill(SourceTools))
		}
	}
	return out
}

func inferred(text string) (found []ability) {
	text = strings.ToLower(text)
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, a := range abilities {
		begins := func(stem string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, stem) })
		}
		if slices.ContainsFunc(a.english, begins) || slices.ContainsFunc(a.korean, func(stem string) bool { return strings.Contains(text, stem) }) {
			found = append(found, a)
		}
	}
	return found
}

// Capabilities returns the ids of skills.
func Capabilities(skills []Skill) []string {
	ids := []string{}
	for _, s := range skills {
		ids = append(ids, s.ID)
	}
	return ids
}

// Wanted returns the skills that words ask for, by their ids: a word may be an
// id, a name in either language, or a sentence from which they follow as from a
// goal. A word that means none stays as it is, and no card has it.
func Wanted(words ...string) []string {
	var ids []string
	add := func(id string) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, w := range words {
		w = strings.TrimSpace(w)
		if w == "" {
			continue
		}
		known := func(a ability) bool {
			return strings.EqualFold(w, a.id) || strings.EqualFold(w, a.name) || w == a.ko || slices.Contains(a.tools, w)
		}
		if i := slices.IndexFunc(abilities, known); i >= 0 {
			add(abilities[i].id)
			continue
		}
		found := inferred(w)
		for _, a := range found {
			add(a.id)
		}
		if len(found) == 0 {
			add(strings.ToLower(w))
		}
	}
	return ids
}

// Inferable returns the ids of the skills that follow from a text as from a
// goal.
func Inferable(text string) []string {
	var ids []string
	for _, a := range inferred(text) {
		ids = append(ids, a.id)
	}
	return ids
}

// Lacks returns those of ids that the agent has not.
func (c Card) Lacks(ids []string) []string {
	lacks := []string{}
	for _, id := range ids {
		if !slices.Contains(c.Capabilities, id) {
			lacks = append(lacks, id)
		}
	}
	return lacks
}

// StartedFor reports whether the agent was started for all of ids, and not only
// has the tools for them.
func (c Card) StartedFor(ids []string) bool {
	for _, id := range ids {
		if !slices.ContainsFunc(c.Skills, func(s Skill) bool { return s.ID == id && s.Source == SourceGoal }) {
			return false
		}
	}
	return len(ids) > 0
}
