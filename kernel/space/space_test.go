package space_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"oxios/kernel/space"
)

var garden = []string{
	"When should I water the tomatoes on the balcony?", "The basil leaves turn yellow, is it the soil or too much water?",
	"Plan the garden beds for spring: beans, tomatoes, basil.", "토마토에 물을 얼마나 자주 줘야 하나요?", "베란다 화분의 흙을 갈아야 할까요?",
}

var taxes = []string{
	"Sum the invoices of the third quarter for the tax return.", "Which receipts can I deduct from income tax?",
	"Export the ledger for the accountant.", "종합소득세 신고에 필요한 영수증을 정리해 줘", "부가세 계산서를 분기별로 모아 줘",
}

func spaces() []space.Space {
	return []space.Space{
		{ID: "", About: space.About([]string{"Write a hello file", "What can you do?", "내일 날씨 어때?"})},
		{ID: "1garden", Name: "Garden", Words: []string{"tomato", "#balcony", "토마토", "raised bed"}, Folder: "/home/u/garden", About: space.About(garden)},
		{ID: "2taxes", Name: "Taxes", Words: []string{"invoice", "세금"}, Paths: []string{"/home/u/money/taxes"}, About: space.About(taxes)},
		{ID: "3money", Name: "Money", Paths: []string{"/home/u/money", "/data/돈 관리"}},
		{ID: "4oxios", Name: "Oxios", Words: []string{"kernel"}, Paths: []string{"/projects/oxios"}},
	}
}

func TestTheActiveSpaceStandsBetweenWhatIsNamedAndWhatIsGuessed(t *testing.T) {
	t.Parallel()
	shared := append(spaces(), space.Space{ID: "5other", Name: "Elsewhere", Paths: []string{"/projects/oxios"}})
	for i := range shared { // a correction taught it
		if shared[i].ID == "3money" {
			shared[i].Learned = []space.Word{{Word: "apple", Weight: 2}, {Word: "harvest", Weight: 2}}
		}
	}
	for _, c := range []struct{ name, text, folder, active, space, why string }{
		{"nothing is named", "What can you do?", "", "3money", "3money", "active"},
		{"a topic", "Should the soil of the basil be dry before I water it?", "", "3money", "3money", "active"},
		{"what corrections taught", "When is the apple harvest?", "", "2taxes", "2taxes", "active"},
		{"a path", "Look at /home/u/garden/a.txt", "", "3money", "1garden", "path"},
		{"the folder", "What is in here?", "/home/u/garden", "3money", "1garden", "path"},
		{"a folder that is no space's", "What is in here?", "/srv", "3money", "3money", "active"},
		{"a tag", "Remind me #balcony", "", "3money", "1garden", "word"},
		{"a word", "Is this tomato ripe?", "", "3money", "1garden", "word"},
		{"a path that it shares", "Look at /projects/oxios", "", "5other", "5other", "active"},
		{"a path that two others share", "Look at /projects/oxios", "", "3money", "4oxios", "path"},
		{"one that is not there", "What can you do?", "", "9gone", "", ""},
	} {
		got := space.Detect(space.Message{Text: c.text, Folder: c.folder, Home: "/home/u", Active: c.active}, shared)
		if got.Space != c.space || got.Why != c.why {
			t.Errorf("%s: got %q by %q, want %q by %q", c.name, got.Space, got.Why, c.space, c.why)
		}
	}
}

func TestAMessageFindsItsSpace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, folder string
		space, why, named  string
	}{
		{"a path in the message", "Look at /projects/oxios/src/main.rs", "", "4oxios", "path", "/projects/oxios"},
		{"a path at the end of a sentence", "Work in /projects/oxios.", "", "4oxios", "path", "/projects/oxios"},
		{"a path with a Korean particle", "/projects/oxios에서 테스트를 돌려 줘", "", "4oxios", "path", "/projects/oxios"},
		{"a path with ~", "Sort ~/money/taxes/2026", "", "2taxes", "path", "/home/u/money/taxes"},
		{"a path with a space in it", `"/data/돈 관리/2026.xlsx"를 열어 줘`, "", "3money", "path", "/data/돈 관리"},
		{"the longest path", "Compare /home/u/money/a with /home/u/money/taxes/b", "", "2taxes", "path", "/home/u/money/taxes"},
		{"the folder", "What is in here?", "/home/u/money/2026", "3money", "path", "/home/u/money"},
		{"a path from the folder", "Show oxios/README.md", "/projects", "4oxios", "path", "/projects/oxios"},
		{"a path wins over a word", "Write about the tomato in /projects/oxios/x.md", "", "4oxios", "path", "/projects/oxios"},
		{"a name that goes on is another path", "Look at /projects/oxios-old and /projects/oxios.bak", "", "", "", ""},
		{"the end of another path", "Look at /mnt/projects/oxios", "", "", "", ""},
		{"an address of the web", "Read https://example.org/projects/oxios", "", "", "", ""},

		{"a tag", "Remind me later #balcony", "", "1garden", "word", "balcony"},
		{"a tag wins over words", "The invoice of the invoice #tomato", "", "1garden", "word", "tomato"},
		{"a name as a tag", "#taxes what is due?", "", "2taxes", "word", "Taxes"},
		{"a word", "Is this tomato ripe?", "", "1garden", "word", "tomato"},
		{"a plural", "Two TOMATOES fell", "", "1garden", "word", "tomato"},
		{"two words", "Build a raised bed", "", "1garden", "word", "raised bed"},
		{"part of a word is not the word", "The tomatometer says 90", "", "", "", ""},
		{"Korean with a particle", "토마토는 언제 심어요?", "", "1garden", "word", "토마토"},
		{"Korean with two particles", "토마토에서는 냄새가 나요", "", "1garden", "word", "토마토"},
		{"Korean that goes on", "토마토마을 이야기", "", "", "", ""},
		{"English with a Korean particle", "kernel을 빌드해 줘", "", "4oxios", "word", "kernel"},
		{"decomposed Korean", "\u1110\u1169\u1106\u1161\u1110\u1169\u1102\u1173\u11ab \u110b\u1165\u11ab\u110c\u1166?", "", "1garden", "word", "토마토"},
		{"words that speak for two: the longer one", "세금 raised bed", "", "1garden", "word", "raised bed"},
		{"a word and a name of one", "The tomato in the garden and an invoice", "", "1garden", "word", "Garden, tomato"},

		{"a topic", "How much water does basil in dry soil want?", "", "1garden", "topic", ""},
		{"a topic in Korean", "화분의 흙에 물을 얼마나 자주 줘야 할까요", "", "1garden", "topic", ""},
		{"another topic", "Which receipts does the accountant need for income?", "", "2taxes", "topic", ""},
		{"nothing that is known", "Translate this poem of Rilke", "", "", "", ""},
		{"one word is no topic", "water", "", "", "", ""},
		{"nothing", "", "", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := space.Detect(space.Message{Text: c.text, Folder: c.folder, Home: "/home/u"}, spaces())
			if got.Space != c.space || got.Why != c.why || c.named != "" && got.Named != c.named {
				t.Errorf("got %+v, want the space %q by %q (%q)", got, c.space, c.why, c.named)
			}
		})
	}
}

func TestDetectionDoesNotDependOnTheOrderOfSpaces(t *testing.T) {
	t.Parallel()
	parts := []string{"tomato", "invoice", "토마토는", "kernel을", "/projects/oxios", "~/money", "water", "soil", "receipts", "#balcony", "the", "Garden", "세금"}
	r := rand.New(rand.NewPCG(7, 11))
	all := spaces()
	all = append(all, space.Space{ID: "5twin", Name: "Twin", Paths: []string{"/projects/oxios"}, Words: []string{"invoice"}, Learned: []space.Word{{"soil", 1}, {"water", 2}}})
	for range 500 {
		text := ""
		for range 1 + r.IntN(5) {
			text += parts[r.IntN(len(parts))] + " "
		}
		m := space.Message{Text: text, Home: "/home/u"}
		want := space.Detect(m, all)
		for range 3 {
			mixed := slices.Clone(all)
			r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			if got := space.Detect(m, mixed); got != want {
				t.Fatalf("%q: got %+v in another order, want %+v", text, got, want)
			}
		}
		if want.Sure < 0 || want.Sure > 1 || (want.Space == "") != (want.Why == "") {
			t.Fatalf("%q: got %+v", text, want)
		}
	}
}

func TestSharedPathIsDecidedByTheRestOfTheMessage(t *testing.T) {
	t.Parallel()
	all := []space.Space{{ID: "a", Name: "A1", Paths: []string{"/x"}, Words: []string{"apple"}}, {ID: "b", Name: "B1", Paths: []string{"/x"}, Words: []string{"pear"}}}
	if got := space.Detect(space.Message{Text: "the pear in /x/y"}, all); got.Space != "b" {
		t.Errorf("got %+v, want b", got)
	}
	if got := space.Detect(space.Message{Text: "look into /x/y"}, all); got.Space != "a" || got.Sure > 0.5 {
		t.Errorf("got %+v, want the older one, unsure", got)
	}
}

func TestWhatWasLearnedOutweighsAWordThatMisled(t *testing.T) {
	t.Parallel()
	all := []space.Space{{ID: "c", Name: "Computers", Words: []string{"apple"}}, {ID: "g", Name: "Garden"}}
	m := space.Message{Text: "When is the apple harvest?"}
	if got := space.Detect(m, all); got.Space != "c" {
		t.Fatalf("got %+v before, want c", got)
	}
	all[1].Learned = []space.Word{{"apple", 1}, {"harvest", 1}}
	if got := space.Detect(m, all); got.Space != "g" || got.Why != space.WhyTopic {
		t.Errorf("got %+v after, want g", got)
	}
}

func TestAShiftOfTopicIsProposed(t *testing.T) {
	t.Parallel()
	talk := []string{"Sum the invoices", "And the receipts of the quarter?"}
	if p, ok := space.Shift("2taxes", append(talk, "Which can I deduct from income tax?"), spaces()); ok {
		t.Errorf("got %+v for the same topic", p)
	}
	moved := append(talk, "When do I water the tomatoes?", "The basil leaves turn yellow", "How dry may the soil of the tomatoes be?")
	if p, ok := space.Shift("2taxes", moved, spaces()); !ok || p.Kind != space.ProposeMove || p.Space != "1garden" {
		t.Errorf("got %+v, %v, want a move to the garden", p, ok)
	}
	if p, ok := space.Shift("1garden", moved, spaces()); ok {
		t.Errorf("got %+v in the garden itself", p)
	}
	fresh := []string{"Translate a poem by Rilke", "Which poem by Rilke mentions a panther?", "Compare the Rilke translations of that poem", "Find the meter of the Rilke poem"}
	p, ok := space.Shift("2taxes", fresh, spaces())
	if !ok || p.Kind != space.ProposeNew || p.Name != "Poem Rilke" {
		t.Errorf("got %+v, %v, want a new space", p, ok)
	}
	korean := []string{"릴케의 시를 번역해 줘", "릴케의 시에서 표범은 무슨 뜻이야?", "릴케는 언제 그 번역을 봤어?", "표범 번역을 비교해 줘"}
	if p, ok := space.Shift("", korean, spaces()); !ok || p.Kind != space.ProposeNew {
		t.Errorf("got %+v, %v, want a new space in Korean", p, ok)
	}
}

func TestTellingWordsLoseTheirParticles(t *testing.T) {
	t.Parallel()
	got := space.Telling([]string{"토마토는 물을 좋아해", "Please water the tomatoes", "토마토를 심자"}, 3)
	if !slices.Contains(got, "토마토") || slices.Contains(got, "please") || slices.Contains(got, "the") {
		t.Errorf("got %q", got)
	}
}

func BenchmarkDetect(b *testing.B) {
	all := spaces()
	for b.Loop() {
		space.Detect(space.Message{Text: "How much water does basil in dry soil want?", Home: "/home/u"}, all)
	}
}

func FuzzDetect(f *testing.F) {
	f.Add("토마토는 /projects/oxios #태그", "/home/u")
	f.Fuzz(func(t *testing.T, text, folder string) {
		m := space.Message{Text: text, Folder: folder, Home: "/home/u"}
		if a, b := space.Detect(m, spaces()), space.Detect(m, spaces()); a != b {
			t.Errorf("got %+v, then %+v", a, b)
		}
		space.Shift("", []string{text, folder, text, text}, spaces())
	})
}
