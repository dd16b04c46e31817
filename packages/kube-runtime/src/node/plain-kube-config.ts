/**
 * Kubeconfigs as kubeadm, k3s, RKE2 and `kubectl config` write them: certificates and tokens are in the file, in block style or as JSON. A file
 * with anything else is left to `@kubernetes/client-node`, whose loading takes most of the time of a short command.
 */
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
export function readPlainKubeConfig(text: string, context?: string): PlainKubeConfig | undefined {
  const config = text.startsWith('{') ? parseJson(text) : parseBlocks(text);
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The start of an item of a list, or a key with or without a value. */
interface Line {
  readonly indent: number;
  /** Undefined: the start of an item. */
  readonly key?: string;
  readonly value?: unknown;
}

const LINE = /^( *)(- )?([A-Za-z][A-Za-z-]*):(?: +(\S+))?$/;
/** What YAML takes for a text: no boolean, no null, and after a digit a letter that neither numbers nor dates contain. */
const PLAIN_TEXT = /^(?!(?:true|false|null)$)(?:[a-z/]|\d(?=.*[g-np-su-w]))(?:[\w+/=.@:-]*[\w+/=.@-])?$/i;
const QUOTED_TEXT = /^"[^"\\]*"$|^'[^']*'$/;

/** The part of YAML that consists of mappings and lists in block style, with texts of one word; undefined for everything else. */
function parseBlocks(text: string): unknown {
  const lines: Line[] = [];
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const read = parseLine(line);
    if (read === undefined) return undefined;
    lines.push(...read);
  }
  const whole = takeMapping(lines, 0);
  return lines.length === 0 ? whole : undefined;
}

/** A key, after the start of an item if there is a dash; undefined for everything else. */
function parseLine(line: string): readonly Line[] | undefined {
  const [, spaces = '', dash = '', key, word] = LINE.exec(line) ?? [];
  const value = word === undefined ? undefined : parseWord(word);
  if (key === undefined || (word !== undefined && value === undefined)) return undefined;
  const field = { indent: spaces.length + dash.length, key, value };
  return dash === '' ? [field] : [{ indent: spaces.length }, field];
}

function parseWord(word: string): unknown {
  if (word === '{}') return {};
  if (QUOTED_TEXT.test(word)) return word.slice(1, -1);
  return PLAIN_TEXT.test(word) ? word : undefined;
}

/** Takes the lines of a mapping from the start of `lines`; undefined if they are not one. */
function takeMapping(lines: Line[], indent: number): Fields | undefined {
  const fields = new Map<string, unknown>();
  for (let line = lines[0]; line?.key !== undefined && line.indent === indent; line = lines[0]) {
    lines.shift();
    const value = line.value ?? takeBelow(lines, indent);
    if (value === undefined || fields.has(line.key)) return undefined;
    fields.set(line.key, value);
  }
  return fields.size === 0 ? undefined : Object.fromEntries(fields);
}

/** What belongs to a key without a value: a list, which may stand as far left as the key, or a mapping. */
function takeBelow(lines: Line[], indent: number): unknown {
  const [first] = lines;
  if (first === undefined || first.indent < indent) return undefined;
  if (first.key !== undefined) return first.indent > indent ? takeMapping(lines, first.indent) : undefined;
  const items: Fields[] = [];
  while (lines[0] !== undefined && lines[0].key === undefined && lines[0].indent === first.indent) {
    lines.shift();
    const item = takeMapping(lines, first.indent + 2);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}
