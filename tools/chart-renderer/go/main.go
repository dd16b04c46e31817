// Renders a chart as `helm template` does, on text/template and sprig. What it does and does not do: README.md.
package main

import (
	"fmt"
	"os"
	"strings"
)

const usage = `Usage: chart-renderer CHART [flags]

  --name NAME              name of the release (default: vmdhcp)
  --namespace NAMESPACE    namespace of the release (default: default)
  --values FILE, -f FILE   values; may be given several times, the last one wins
  --set PATH=VALUE         one value, as Helm reads it: a.b=1, a={x,y}, a[0].b=c; may be given several times
  --set-string PATH=VALUE  the same, always a text
  --api-versions VERSION   an API that the cluster has, such as monitoring.coreos.com/v1; may be given several times
  --kube-version VERSION   version of the cluster (default: v1.30.0)
  --upgrade                render as helm upgrade
  --notes                  print NOTES.txt and nothing else
  --values-only            print the merged values as JSON, for values.schema.json, and nothing else
`

type options struct {
	chart, name, namespace, kubeVersion string
	valueFiles, apiVersions             []string
	sets                                []setting
	upgrade, notes, valuesOnly          bool
}

type setting struct {
	text    string
	literal bool
}

func main() {
	opts, err := parseOptions(os.Args[1:])
	if err == nil {
		var output string
		if output, err = run(opts); err == nil {
			fmt.Print(output)
			return
		}
	}
	fmt.Fprintf(os.Stderr, "Error: %v\n", err)
	os.Exit(1)
}

func parseOptions(words []string) (options, error) {
	opts := options{name: "vmdhcp", namespace: "default", kubeVersion: "v1.30.0"}
	for index := 0; index < len(words); index++ {
		word := words[index]
		switch word {
		case "--upgrade":
			opts.upgrade = true
			continue
		case "--notes":
			opts.notes = true
			continue
		case "--values-only":
			opts.valuesOnly = true
			continue
		}
		if !strings.HasPrefix(word, "-") {
			if opts.chart != "" {
				return opts, fmt.Errorf("one chart at a time: %s\n\n%s", word, usage)
			}
			opts.chart = word
			continue
		}
		index++
		if index == len(words) {
			return opts, fmt.Errorf("%s needs a value\n\n%s", word, usage)
		}
		if err := opts.take(word, words[index]); err != nil {
			return opts, err
		}
	}
	if opts.chart == "" {
		return opts, fmt.Errorf("which chart?\n\n%s", usage)
	}
	return opts, nil
}

func (opts *options) take(flag, value string) error {
	switch flag {
	case "--name":
		opts.name = value
	case "--namespace":
		opts.namespace = value
	case "--kube-version":
		opts.kubeVersion = value
	case "--values", "-f":
		opts.valueFiles = append(opts.valueFiles, value)
	case "--api-versions":
		opts.apiVersions = append(opts.apiVersions, value)
	case "--set":
		opts.sets = append(opts.sets, setting{text: value})
	case "--set-string":
		opts.sets = append(opts.sets, setting{text: value, literal: true})
	default:
		return fmt.Errorf("there is no flag %s\n\n%s", flag, usage)
	}
	return nil
}
