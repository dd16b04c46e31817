import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { rendererProgram } from './renderer-program.js';

/** The chart of this repository. */
export const CHART = fileURLToPath(new URL('../../../charts/vmdhcp', import.meta.url));

export interface ChartSettings {
  /** The folder of the chart; default: `CHART`. */
  readonly chart?: string;
  /** Name of the release; default: vmdhcp. */
  readonly name?: string;
  readonly namespace?: string;
  /** Values; they win over those of the files. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Paths of files of values. */
  readonly files?: readonly string[];
  /** As after `--set`. */
  readonly set?: readonly string[];
  /** APIs that the cluster has beside those of Kubernetes: `monitoring.coreos.com/v1/PodMonitor`. */
  readonly apiVersions?: readonly string[];
  readonly kubeVersion?: string;
}

type ChartObject = Readonly<Record<string, unknown>>;

/** By text: most documents are the same for most values, and reading YAML is what takes the time. */
const readDocuments = new Map<string, readonly ChartObject[]>();

/** The objects of the chart in the order in which Helm installs them; hooks last. @throws Error in the words of the chart where it refuses the values. */
export function renderChart(settings: ChartSettings = {}): readonly ChartObject[] {
  return render(settings)
    .split(/^---\n/m)
    .flatMap(readDocument);
}

function readDocument(text: string): readonly ChartObject[] {
  const read = readDocuments.get(text) ?? parseAllDocuments(text).map(toObject);
  readDocuments.set(text, read);
  return read;
}

function toObject(document: ReturnType<typeof parseAllDocuments>[number]): ChartObject {
  const [error] = document.errors;
  if (error !== undefined) throw error;
  return document.toJS() as ChartObject;
}

/** The text of NOTES.txt. @throws Error as `renderChart`. */
export function renderNotes(settings: ChartSettings = {}): string {
  return render(settings, '--notes');
}

/** What Helm checks against values.schema.json: the chart's values with those given. @throws Error where they cannot be read. */
export function mergeValues(settings: ChartSettings = {}): unknown {
  return JSON.parse(render(settings, '--values-only'));
}

/** As text, with the comments of the templates. */
export function render(settings: ChartSettings, ...more: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(rendererProgram(), [...parametersOf(settings), ...more], {
    encoding: 'utf8',
    input: JSON.stringify(settings.values ?? {}),
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error(stderr.trim());
  return stdout;
}

function parametersOf(settings: ChartSettings): string[] {
  const { chart = CHART, name, namespace = 'vm-dhcp-system', kubeVersion, files = [], set = [], apiVersions = [] } = settings;
  const each = (flag: string, values: readonly string[]) => values.flatMap((value) => [flag, value]);
  return [
    chart,
    ...each('--namespace', [namespace]),
    ...each('--name', name === undefined ? [] : [name]),
    ...each('--kube-version', kubeVersion === undefined ? [] : [kubeVersion]),
    ...each('--values', [...files, ...(settings.values === undefined ? [] : ['-'])]),
    ...each('--set', set),
    ...each('--api-versions', apiVersions),
  ];
}
