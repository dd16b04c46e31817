/**
 * Kubeconfigs as kubeadm, k3s, RKE2 and `kubectl config` write them: certificates and tokens are in the file. A file with anything else is left to
 * `@kubernetes/client-node`, whose loading takes most of the time of a short command.
 */
import { isDeepStrictEqual } from 'node:util';
import { isRecord, readField, readList, readText } from '../object/read-field.js';

export interface PlainKubeConfig {
  /** As in the file. */
  readonly server: string;
  /** What is in the file, decoded from base64. */
  readonly tls: { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer };
  readonly token: string | undefined;
  readonly namespace: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** Their values are texts. Every other field, as for a plugin or a proxy, needs the library. */
const KNOWN_FIELDS = {
  context: ['cluster', 'user', 'namespace'],
  cluster: ['server', 'certificate-authority-data'],
  user: ['token', 'client-certificate-data', 'client-key-data'],
} as const;

/**
 * What a context of this kubeconfig describes; undefined if the library has to read it, or has to explain what is wrong.
 *
 * @param context - default: the current one.
 */
export async function readPlainKubeConfig(text: string, context?: string): Promise<PlainKubeConfig | undefined> {
  const config = await parseYaml(text);
  const chosen = findEntry(config, 'context', context ?? readText(config, 'current-context'));
  const cluster = findEntry(config, 'cluster', readText(chosen, 'cluster'));
  const user = findEntry(config, 'user', readText(chosen, 'user'));
  const server = readText(cluster, 'server');
  if (user === undefined || server === undefined || !URL.canParse(server)) return undefined;
  const data = {
    ca: readText(cluster, 'certificate-authority-data'),
    cert: readText(user, 'client-certificate-data'),
    key: readText(user, 'client-key-data'),
  };
  const given = Object.entries(data).filter(([, base64]) => base64);
  return {
    server,
    tls: Object.fromEntries(given.map(([name, base64]) => [name, Buffer.from(base64 ?? '', 'base64')])),
    token: readText(user, 'token') || undefined,
    namespace: readText(chosen, 'namespace'),
  };
}

/** The one entry with this name, if it has known fields only. */
function findEntry(config: unknown, kind: keyof typeof KNOWN_FIELDS, name: string | undefined): Fields | undefined {
  const named = readList(config, `${kind}s`).filter((entry) => readText(entry, 'name') === name);
  if (!name || named.length !== 1) return undefined;
  const fields = readField(named[0], kind);
  if (!isRecord(fields)) return undefined;
  const known: readonly string[] = KNOWN_FIELDS[kind];
  const isPlain = Object.entries(fields).every(([field, value]) => known.includes(field) && typeof value === 'string');
  return isPlain ? fields : undefined;
}

/** Undefined if the text is not YAML, if its versions 1.1 and 1.2 differ, as in whether `no` is a text, or without the package `yaml`. */
async function parseYaml(text: string): Promise<unknown> {
  try {
    // Loaded only by processes that read a kubeconfig.
    const { parseDocument } = await import('yaml');
    const [ours, older] = (['core', 'yaml-1.1'] as const).map((schema): unknown => {
      const document = parseDocument(text, { schema });
      return document.errors.length + document.warnings.length === 0 ? document.toJS() : undefined;
    });
    return isDeepStrictEqual(ours, older) ? ours : undefined;
  } catch {
    // It is not installed, or there is an alias without its anchor.
    return undefined;
  }
}
