/** What of Helm the renderer does: a small chart, and what `helm template` prints for it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ChartSettings, mergeValues, renderChart, renderNotes } from './render-chart.js';
import { hasRenderer, NEEDS_RENDERER, rendererProgram } from './renderer-program.js';

let chart: string;

beforeEach(() => {
  chart = mkdtempSync(join(tmpdir(), 'vmdhcp-chart-'));
  file('Chart.yaml', 'apiVersion: v2\nname: tried\nversion: 1.2.3\nappVersion: "4.5"\nkubeVersion: ">=1.25.0-0"\n');
  file('values.yaml', 'a: { b: 1, c: two }\nlist: [1, 2]\nempty: ""\n');
  file('data/one.txt', 'one');
  file('templates/_named.tpl', '{{ define "named" }}{{ .Release.Name }}-{{ .Values.a.c }}{{ end }}');
});

afterEach(() => rmSync(chart, { recursive: true }));

function file(path: string, text: string): void {
  mkdirSync(dirname(join(chart, path)), { recursive: true });
  writeFileSync(join(chart, path), text);
}

/** The value of an expression. */
function evaluate(expression: string, settings: ChartSettings = {}): unknown {
  file('templates/tried.yaml', `kind: Tried\nvalue: ${expression}\n`);
  return renderChart({ chart, ...settings })[0]?.['value'];
}

describe.skipIf(!hasRenderer())(`the renderer ${NEEDS_RENDERER}`, () => {
  // A new machine compiles it first.
  beforeAll(() => void rendererProgram(), 180_000);

  it.each<[string, string, unknown]>([
    ['a value', '{{ .Values.a.b }}', 1],
    ['a value that is missing is empty', '"{{ .Values.nothing }}"', ''],
    ['the release', '{{ .Release.Name }} {{ .Release.Namespace }} {{ .Release.Service }}', 'vmdhcp vm-dhcp-system Helm'],
    ['whether it is an upgrade', '{{ .Release.IsInstall }} {{ .Release.IsUpgrade }}', 'true false'],
    ['the chart', '{{ .Chart.Name }} {{ .Chart.Version }} {{ .Chart.AppVersion }}', 'tried 1.2.3 4.5'],
    ['the template', '{{ .Template.Name }}', 'tried/templates/tried.yaml'],
    ['include, in a pipe', '{{ include "named" . | upper }}', 'VMDHCP-TWO'],
    ['tpl', '{{ tpl "{{ .Values.a.c }}" . }}', 'two'],
    ['toYaml', '\n  {{- toYaml .Values.a | nindent 2 }}', { b: 1, c: 'two' }],
    ['fromYaml', '{{ (fromYaml "x: 1").x }}', 1],
    ['toJson', '{{ toJson .Values.list }}', [1, 2]],
    ['functions of sprig', '{{ list 1 2 | join "-" | b64enc | trunc 3 }}', 'MS0'],
    ['a file', '{{ .Files.Get "data/one.txt" }}', 'one'],
    ['files', '{{ range $path, $_ := .Files.Glob "data/*" }}{{ $path }}{{ end }}', 'data/one.txt'],
    ['the version of the cluster', '{{ .Capabilities.KubeVersion.Minor }}', 30],
    ['an API of Kubernetes', '{{ .Capabilities.APIVersions.Has "policy/v1" }}', true],
    ['an API that the cluster has not', '{{ .Capabilities.APIVersions.Has "monitoring.coreos.com/v1" }}', false],
    ['lookup finds nothing', '{{ lookup "v1" "Secret" "a" "b" | len }}', 0],
    ['required, of what is there', '{{ required "write it" .Values.a.c }}', 'two'],
  ])('%s', (_, expression, expected) => {
    expect(evaluate(expression)).toEqual(expected);
  });

  it.each<[string, string, RegExp]>([
    ['fail', '{{ fail "no" }}', /error calling fail: no/],
    ['required, of what is empty', '{{ required "write it" .Values.empty }}', /write it/],
    ['a function that is none', '{{ nothing }}', /function "nothing" not defined/],
    ['a function that reads the machine', '{{ env "HOME" }}', /function "env" not defined/],
    ['what is below no map', '{{ .Values.list.x }}', /can't evaluate field x/],
    ['what is not YAML', '"{{ .Values.a.c }}', /YAML parse error on tried\/templates\/tried\.yaml/],
  ])('%s ends with an error', (_, expression, message) => {
    expect(() => evaluate(expression)).toThrow(message);
  });

  it('an API that is named, by group and by kind', () => {
    const expression = '{{ .Capabilities.APIVersions.Has "x.io/v1" }}{{ .Capabilities.APIVersions.Has "x.io/v1/Y" }}';
    expect(evaluate(expression, { apiVersions: ['x.io/v1/Y'] })).toBe('truetrue');
  });

  it('a cluster that is too old is refused', () => {
    expect(() => evaluate('1', { kubeVersion: '1.24.0' })).toThrow('chart requires kubeVersion: >=1.25.0-0');
  });

  it('values: maps are merged, lists are replaced, null removes, --set comes last', () => {
    const values = { a: { b: null, d: true }, list: [3] };
    const set = ['a.c=x', 'e={p,q},f[0].g=7', 'h=a\\,b', 'i\\.j=null'];
    expect(mergeValues({ chart, values, set })).toEqual({
      a: { c: 'x', d: true },
      list: [3],
      empty: '',
      e: ['p', 'q'],
      f: [{ g: 7 }],
      h: 'a,b',
    });
  });

  it('documents come in the order in which Helm installs them, hooks last, empty ones and partials not at all', () => {
    const document = (kind: string, hook = false) =>
      `---\nkind: ${kind}\n${hook ? 'metadata: { annotations: { helm.sh/hook: test } }\n' : ''}`;
    const kinds = ['Other', 'Deployment', 'ServiceAccount'].map((kind) => document(kind)).join('');
    file('templates/all.yaml', `${document('Pod', true)}${kinds}---\n# nothing\n`);
    file('templates/zone.yaml', document('Namespace'));
    file('templates/NOTES.txt', 'Hello {{ .Release.Name }}');
    expect(renderChart({ chart }).map(({ kind }) => kind)).toEqual(['Namespace', 'ServiceAccount', 'Deployment', 'Other', 'Pod']);
    expect(renderNotes({ chart })).toBe('Hello vmdhcp');
  });
});
