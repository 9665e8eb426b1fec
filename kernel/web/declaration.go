package web

import (
	"strconv"
	"strings"
)

// readDeclarations reads what a block says about being seen. The ways are kept
// apart, since what one takes back another may still do.
func readDeclarations(block string) map[string]declared {
	if !strings.ContainsAny(block, ":") {
		return nil
	}
	values := map[string]string{}
	important := map[string]bool{}
	for d := range strings.SplitSeq(unescaped(uncommented(block)), ";") {
		name, value, ok := strings.Cut(d, ":")
		if !ok {
			continue
		}
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.ToLower(strings.Join(strings.Fields(value), " "))
		if v, ok := strings.CutSuffix(value, "important"); ok {
			if v, ok = strings.CutSuffix(strings.TrimSpace(v), "!"); ok {
				value = strings.TrimSpace(v)
				important[name] = true
			}
		} else if important[name] {
			continue
		}
		values[name] = value
	}
	var ways map[string]declared
	say := func(way string, hides bool) {
		if ways == nil {
			ways = map[string]declared{}
		}
		ways[way] = declared{hides, important[way]}
	}
	for name, v := range values {
		switch name {
		case "display":
			say(name, v == "none")
		case "visibility":
			say(name, v == "hidden" || v == "collapse")
		case "content-visibility":
			say(name, v == "hidden")
		case "opacity":
			n, unit, ok := number(v)
			say(name, ok && (n <= 0.05 && unit == "" || n <= 5 && unit == "%"))
		case "font-size":
			say(name, tiny(v))
		case "font":
			for f := range strings.FieldsSeq(v) {
				size, _, _ := strings.Cut(f, "/")
				if _, unit, ok := number(size); ok && unit != "" || size == "0" {
					say("font-size", tiny(size))
				}
			}
		case "color", "-webkit-text-fill-color":
			say(name, v == "transparent" || strings.HasPrefix(v, "rgba(") && (strings.HasSuffix(v, ",0)") || strings.HasSuffix(v, ", 0)")) ||
				v != "" && v != "inherit" && (v == values["background-color"] || v == values["background"]))
		case "text-indent", "left", "top", "right", "bottom", "margin-left", "margin-top":
			n, unit, ok := number(v)
			say(name, ok && (n <= -300 && unit != "%" || n <= -20 && (unit == "em" || unit == "rem" || unit == "vw" || unit == "vh") || n <= -100 && unit == "%"))
		case "transform", "scale":
			say("transform", v == "scale(0)" || v == "scale(0,0)" || v == "scale(0, 0)" || name == "scale" && v == "0")
		case "clip":
			say(name, strings.HasPrefix(v, "rect(") && strings.Trim(strings.TrimPrefix(v, "rect("), "01px, )") == "")
		case "clip-path":
			say(name, strings.HasPrefix(v, "inset(50%") || strings.HasPrefix(v, "inset(100%") || v == "circle(0)" || v == "circle(0px)")
		}
	}
	if over := values["overflow"]; over != "" {
		none := false
		for _, name := range []string{"width", "height", "max-width", "max-height"} {
			n, unit, ok := number(values[name])
			none = none || ok && n <= 1 && (unit == "px" || n == 0)
		}
		say("overflow", none && (over == "hidden" || over == "clip"))
	}
	return ways
}

// tiny reports whether a font size cannot be read by anybody.
func tiny(v string) bool {
	n, unit, ok := number(v)
	if !ok {
		return false
	}
	switch unit {
	case "em", "rem", "ex", "ch", "vw", "vh", "pc", "in", "cm":
		return n <= 0.15
	case "%":
		return n <= 15
	}
	return n <= 2
}

// number splits "-10px".
func number(v string) (n float64, unit string, ok bool) {
	end := len(v) - len(strings.TrimLeft(v, "+-.0123456789"))
	n, err := strconv.ParseFloat(v[:end], 64)
	unit = strings.TrimSpace(v[end:])
	return n, unit, err == nil && len(unit) < 5
}

func uncommented(css string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(css, "/*")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		if _, css, ok = strings.Cut(rest, "*/"); !ok {
			return b.String()
		}
	}
}

// unescaped reads the escapes of CSS, with which "none" can be written n\6fne.
func unescaped(css string) string {
	if !strings.Contains(css, `\`) {
		return css
	}
	var b strings.Builder
	for i := 0; i < len(css); i++ {
		if css[i] != '\\' || i+1 == len(css) {
			b.WriteByte(css[i])
			continue
		}
		end := i + 1
		for end < len(css) && end < i+7 && strings.IndexByte("0123456789abcdefABCDEF", css[end]) >= 0 {
			end++
		}
		if n, err := strconv.ParseUint(css[i+1:end], 16, 32); err == nil {
			b.WriteRune(rune(n))
			if i = end - 1; end < len(css) && (css[end] == ' ' || css[end] == '\n' || css[end] == '\t') {
				i = end
			}
			continue
		}
		i++
		b.WriteByte(css[i])
	}
	return b.String()
}
