package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

const deepestInclude = 1000

// All templates of a chart, which can name each other.
func newEngine(templates map[string]string) (*template.Template, error) {
	root := template.New("chart").Option("missingkey=zero")
	depth := map[string]int{}
	root.Funcs(functions(root, depth))
	for _, name := range sortedKeys(templates) {
		if _, err := root.New(name).Parse(templates[name]); err != nil {
			return nil, err
		}
	}
	return root, nil
}

func functions(root *template.Template, depth map[string]int) template.FuncMap {
	funcs := sprig.TxtFuncMap()
	// Helm leaves these out: a chart must not depend on the machine that renders it.
	delete(funcs, "env")
	delete(funcs, "expandenv")
	funcs["include"] = func(name string, data interface{}) (string, error) {
		if depth[name]++; depth[name] > deepestInclude {
			return "", fmt.Errorf("%s includes itself without end", name)
		}
		defer func() { depth[name]-- }()
		return execute(root, name, data)
	}
	funcs["tpl"] = func(text string, data interface{}) (string, error) {
		copied, err := root.Clone()
		if err != nil {
			return "", err
		}
		copied.Funcs(functions(copied, depth))
		if _, err := copied.New("tpl").Parse(text); err != nil {
			return "", err
		}
		return execute(copied, "tpl", data)
	}
	funcs["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return value, fmt.Errorf("%s", message)
		}
		return value, nil
	}
	funcs["fail"] = func(message string) (string, error) { return "", fmt.Errorf("%s", message) }
	// Nothing is asked of a cluster, as by `helm template`.
	funcs["lookup"] = func(string, string, string, string) (table, error) { return table{}, nil }
	funcs["toYaml"] = func(value interface{}) string {
		text, err := yaml.Marshal(value)
		if err != nil {
			return ""
		}
		return strings.TrimSuffix(string(text), "\n")
	}
	funcs["fromYaml"] = func(text string) table {
		values := table{}
		if err := yaml.Unmarshal([]byte(text), &values); err != nil {
			values["Error"] = err.Error()
		}
		return values
	}
	funcs["fromYamlArray"] = func(text string) []interface{} {
		items := []interface{}{}
		if err := yaml.Unmarshal([]byte(text), &items); err != nil {
			items = []interface{}{err.Error()}
		}
		return items
	}
	funcs["toJson"] = toJson
	funcs["fromJson"] = func(text string) table {
		values := table{}
		if err := json.Unmarshal([]byte(text), &values); err != nil {
			values["Error"] = err.Error()
		}
		return values
	}
	return funcs
}

func execute(root *template.Template, name string, data interface{}) (string, error) {
	var output strings.Builder
	if err := root.ExecuteTemplate(&output, name, data); err != nil {
		return "", err
	}
	return strings.ReplaceAll(output.String(), "<no value>", ""), nil
}
