package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"github.com/Masterminds/semver"
	"sigs.k8s.io/yaml"
)

// The names of Helm: templates read .Chart.AppVersion.
type metadata struct {
	APIVersion, Name, Version, AppVersion, KubeVersion, Description, Type, Home, Icon string
	Keywords, Sources                                                                 []string
	Annotations                                                                       map[string]string
}

type files map[string][]byte

func (all files) Get(name string) string { return string(all[name]) }

func (all files) Glob(pattern string) files {
	matching := files{}
	for name, content := range all {
		if found, err := path.Match(pattern, name); err == nil && found {
			matching[name] = content
		}
	}
	return matching
}

type versions []string

func (all versions) Has(version string) bool {
	for _, one := range all {
		if one == version || strings.HasPrefix(one, version+"/") {
			return true
		}
	}
	return false
}

type kubeVersion struct{ Version, Major, Minor string }

func (version kubeVersion) String() string     { return version.Version }
func (version kubeVersion) GitVersion() string { return version.Version }

// What every cluster has that Helm 3 supports.
var builtIn = versions{"v1", "admissionregistration.k8s.io/v1", "apiextensions.k8s.io/v1", "apps/v1", "autoscaling/v2", "batch/v1",
	"coordination.k8s.io/v1", "discovery.k8s.io/v1", "events.k8s.io/v1", "networking.k8s.io/v1", "policy/v1", "rbac.authorization.k8s.io/v1",
	"scheduling.k8s.io/v1", "storage.k8s.io/v1"}

func run(opts options) (string, error) {
	chart, templates, others, err := readChart(opts.chart)
	if err != nil {
		return "", err
	}
	version, err := semver.NewVersion(opts.kubeVersion)
	if err != nil {
		return "", fmt.Errorf("--kube-version %s: %w", opts.kubeVersion, err)
	}
	if err := checkKubeVersion(chart, version); err != nil {
		return "", err
	}
	values, err := readValues(others["values.yaml"], opts)
	if err != nil {
		return "", err
	}
	if opts.valuesOnly {
		return toJson(values) + "\n", nil
	}
	top := table{
		"Values": values,
		"Chart":  chart,
		"Files":  others,
		"Release": table{"Name": opts.name, "Namespace": opts.namespace, "Service": "Helm", "Revision": 1,
			"IsInstall": !opts.upgrade, "IsUpgrade": opts.upgrade},
		"Capabilities": table{
			"KubeVersion": kubeVersion{"v" + version.String(), fmt.Sprint(version.Major()), fmt.Sprint(version.Minor())},
			"APIVersions": append(append(versions{}, builtIn...), opts.apiVersions...),
			"HelmVersion": table{"Version": "v3.17.0"},
		},
	}
	rendered, err := renderAll(chart.Name, templates, top)
	if err != nil {
		return "", err
	}
	if opts.notes {
		return rendered[chart.Name+"/templates/NOTES.txt"], nil
	}
	return inInstallOrder(rendered)
}

func checkKubeVersion(chart metadata, version *semver.Version) error {
	if chart.KubeVersion == "" {
		return nil
	}
	constraint, err := semver.NewConstraint(chart.KubeVersion)
	if err != nil {
		return fmt.Errorf("Chart.yaml: kubeVersion: %w", err)
	}
	if !constraint.Check(version) {
		return fmt.Errorf("chart requires kubeVersion: %s which is incompatible with Kubernetes v%s", chart.KubeVersion, version)
	}
	return nil
}

func readChart(folder string) (metadata, map[string]string, files, error) {
	chart, templates, others := metadata{}, map[string]string{}, files{}
	text, err := os.ReadFile(filepath.Join(folder, "Chart.yaml"))
	if err != nil {
		return chart, nil, nil, err
	}
	if err := yaml.UnmarshalStrict(text, &chart); err != nil {
		return chart, nil, nil, fmt.Errorf("Chart.yaml: %w", err)
	}
	err = filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, file)
		if strings.HasPrefix(name, "templates/") {
			templates[chart.Name+"/"+name] = string(content)
		} else {
			others[name] = content
		}
		return err
	})
	return chart, templates, others, err
}

func renderAll(chart string, templates map[string]string, top table) (map[string]string, error) {
	root, err := newEngine(templates)
	if err != nil {
		return nil, err
	}
	rendered := map[string]string{}
	for _, name := range sortedKeys(templates) {
		if strings.HasPrefix(path.Base(name), "_") {
			continue
		}
		data := merged(top, table{"Template": table{"Name": name, "BasePath": chart + "/templates"}})
		if rendered[name], err = execute(root, name, data); err != nil {
			return nil, err
		}
	}
	return rendered, nil
}

// Kinds in the order in which Helm installs them; other kinds come last, by name.
var installOrder = strings.Fields(`PriorityClass Namespace NetworkPolicy ResourceQuota LimitRange PodSecurityPolicy PodDisruptionBudget
	ServiceAccount Secret SecretList ConfigMap StorageClass PersistentVolume PersistentVolumeClaim CustomResourceDefinition ClusterRole
	ClusterRoleList ClusterRoleBinding ClusterRoleBindingList Role RoleList RoleBinding RoleBindingList Service DaemonSet Pod
	ReplicationController ReplicaSet Deployment HorizontalPodAutoscaler StatefulSet Job CronJob IngressClass Ingress APIService
	MutatingWebhookConfiguration ValidatingWebhookConfiguration`)

type document struct {
	source, kind, text string
	hook               bool
}

var separator = regexp.MustCompile(`(?:^|\s*\n)---\s*`)

// Hooks come after everything else, as `helm template` prints them.
func inInstallOrder(rendered map[string]string) (string, error) {
	documents := []document{}
	for _, source := range sortedKeys(rendered) {
		if strings.HasSuffix(source, "NOTES.txt") {
			continue
		}
		for _, text := range separator.Split(rendered[source], -1) {
			text = strings.TrimSpace(text)
			if text == "" {
				continue
			}
			var head struct {
				Kind     string `json:"kind"`
				Metadata struct {
					Annotations map[string]string `json:"annotations"`
				} `json:"metadata"`
			}
			if err := yaml.Unmarshal([]byte(text), &head); err != nil {
				return "", fmt.Errorf("YAML parse error on %s: %w\n%s", source, err, text)
			}
			if head.Kind == "" {
				continue
			}
			_, hook := head.Metadata.Annotations["helm.sh/hook"]
			documents = append(documents, document{source, head.Kind, text, hook})
		}
	}
	sort.SliceStable(documents, func(left, right int) bool { return rank(documents[left]) < rank(documents[right]) })
	var output strings.Builder
	for _, one := range documents {
		fmt.Fprintf(&output, "---\n# Source: %s\n%s\n", one.source, one.text)
	}
	return output.String(), nil
}

func rank(one document) string {
	place := len(installOrder)
	for index, kind := range installOrder {
		if kind == one.kind {
			place = index
		}
	}
	unknown := ""
	if place == len(installOrder) {
		unknown = one.kind
	}
	return fmt.Sprintf("%t %03d %s", one.hook, place, unknown)
}

func sortedKeys(texts map[string]string) []string {
	keys := make([]string, 0, len(texts))
	for key := range texts {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
