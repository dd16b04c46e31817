package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

type table = map[string]interface{}

// The chart's values.yaml, then each file, then each setting. A null of the user removes a default.
func readValues(defaults []byte, opts options) (table, error) {
	given := table{}
	for _, path := range opts.valueFiles {
		text, err := readText(path)
		if err != nil {
			return nil, err
		}
		values, err := parseYaml(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		given = merged(given, values)
	}
	for _, one := range opts.sets {
		if err := applySetting(given, one); err != nil {
			return nil, fmt.Errorf("--set %s: %w", one.text, err)
		}
	}
	values, err := parseYaml(defaults)
	if err != nil {
		return nil, fmt.Errorf("values.yaml: %w", err)
	}
	return withoutNulls(merged(values, given), given), nil
}

// `-` is the standard input.
func readText(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(path)
}

func parseYaml(text []byte) (table, error) {
	values := table{}
	if err := yaml.Unmarshal(text, &values); err != nil {
		return nil, err
	}
	if values == nil {
		values = table{}
	}
	return values, nil
}

// Tables are merged; everything else, lists included, is replaced.
func merged(below, above table) table {
	result := table{}
	for key, value := range below {
		result[key] = value
	}
	for key, value := range above {
		from, isTable := value.(table)
		into, wasTable := result[key].(table)
		if isTable && wasTable {
			result[key] = merged(into, from)
		} else {
			result[key] = value
		}
	}
	return result
}

func withoutNulls(values, given table) table {
	for key, value := range given {
		if value == nil {
			delete(values, key)
			continue
		}
		inner, isTable := value.(table)
		below, wasTable := values[key].(table)
		if isTable && wasTable {
			values[key] = withoutNulls(below, inner)
		}
	}
	return values
}

// `a.b=1,c={x,y},d[0].e=f`; a comma or a dot that belongs to a name or value has a backslash before it.
func applySetting(values table, one setting) error {
	for _, part := range splitUnescaped(one.text, ',') {
		path, text, found := cutUnescaped(part, '=')
		if !found {
			return fmt.Errorf("write PATH=VALUE")
		}
		keys, err := parsePath(path)
		if err != nil {
			return err
		}
		value := settingValue(text, one.literal)
		if _, err := assign(values, keys, value); err != nil {
			return err
		}
	}
	return nil
}

func settingValue(text string, literal bool) interface{} {
	if strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
		items := []interface{}{}
		if inner := text[1 : len(text)-1]; inner != "" {
			for _, item := range splitUnescaped(inner, ',') {
				items = append(items, settingValue(item, literal))
			}
		}
		return items
	}
	text = unescape(text)
	if literal {
		return text
	}
	switch text {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	if number, err := strconv.ParseInt(text, 10, 64); err == nil && (text == "0" || !strings.HasPrefix(text, "0")) {
		return number
	}
	return text
}

func parsePath(path string) ([]interface{}, error) {
	keys := []interface{}{}
	for _, part := range splitUnescaped(path, '.') {
		name, rest, _ := strings.Cut(part, "[")
		if name != "" {
			keys = append(keys, unescape(name))
		}
		for rest != "" {
			index, after, closed := strings.Cut(rest, "]")
			number, err := strconv.Atoi(index)
			if !closed || err != nil || number < 0 || number > 1024 {
				return nil, fmt.Errorf("%q is no index of a list", index)
			}
			keys = append(keys, number)
			rest = strings.TrimPrefix(after, "[")
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("write PATH=VALUE")
	}
	return keys, nil
}

func assign(into interface{}, keys []interface{}, value interface{}) (interface{}, error) {
	if len(keys) == 0 {
		return value, nil
	}
	switch key := keys[0].(type) {
	case string:
		values, isTable := into.(table)
		if !isTable {
			if into != nil {
				return nil, fmt.Errorf("%s is below a value that is no map", key)
			}
			values = table{}
		}
		inner, err := assign(values[key], keys[1:], value)
		values[key] = inner
		return values, err
	default:
		index := key.(int)
		items, _ := into.([]interface{})
		for len(items) <= index {
			items = append(items, nil)
		}
		inner, err := assign(items[index], keys[1:], value)
		items[index] = inner
		return items, err
	}
}

// Splits outside of braces, and where no backslash stands before.
func splitUnescaped(text string, at byte) []string {
	parts, start, depth := []string{}, 0, 0
	for index := 0; index < len(text); index++ {
		switch text[index] {
		case '\\':
			index++
		case '{':
			depth++
		case '}':
			depth--
		case at:
			if depth == 0 {
				parts = append(parts, text[start:index])
				start = index + 1
			}
		}
	}
	return append(parts, text[start:])
}

func cutUnescaped(text string, at byte) (string, string, bool) {
	for index := 0; index < len(text); index++ {
		if text[index] == '\\' {
			index++
		} else if text[index] == at {
			return text[:index], text[index+1:], true
		}
	}
	return text, "", false
}

func unescape(text string) string {
	var result strings.Builder
	for index := 0; index < len(text); index++ {
		if text[index] == '\\' && index+1 < len(text) {
			index++
		}
		result.WriteByte(text[index])
	}
	return result.String()
}

func toJson(value interface{}) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}
