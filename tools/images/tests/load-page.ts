/** Loads the page as a browser does, without one: its index, and all files that this and its modules name. */
import { get } from 'node:http';
import { text } from 'node:stream/consumers';

export interface LoadedPage {
  /** Paths of all files, in the order of their names. */
  readonly paths: readonly string[];
  /** Files that are not there, or come without the policy of the page, with what came instead. */
  readonly problems: readonly string[];
}

/** References by `<link href>` and `<script src>`, and by modules. */
const REFERENCES = [/ (?:href|src)="([^"#]+)"/g, /\b(?:from|import) ?\(?'(\.[^']+)'/g];

/** @param url - of the page, with `/` at its end. */
export async function loadPage(url: string): Promise<LoadedPage> {
  const found = new Map<string, string | undefined>();
  const waiting = [new URL(url)];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next.pathname)) continue;
    const { content, problem } = await loadFile(next);
    found.set(next.pathname, problem);
    waiting.push(...REFERENCES.flatMap((each) => [...content.matchAll(each)]).map(([, path = '']) => new URL(path, next)));
  }
  const problems = [...found].flatMap(([path, problem]) => (problem === undefined ? [] : [`${path}: ${problem}`]));
  return { paths: [...found.keys()].toSorted(), problems };
}

/** The status and the text of an answer. @param token - of a user; absent: none. */
export async function readAnswer(
  url: URL | string,
  token?: string,
): Promise<{ readonly status: number; readonly body: string; readonly policy: string }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { promise, resolve, reject } = Promise.withResolvers<import('node:http').IncomingMessage>();
  get(url, { headers, agent: false }, resolve).once('error', reject);
  const response = await promise;
  const policy = String(response.headers['content-security-policy'] ?? '');
  return { status: response.statusCode ?? 0, body: await text(response), policy };
}

async function loadFile(url: URL): Promise<{ readonly content: string; readonly problem?: string }> {
  const { status, body, policy } = await readAnswer(url);
  if (status !== 200) return { content: '', problem: `status ${status}` };
  const isStrict = policy.includes("default-src 'none'") && policy.includes("script-src 'self'");
  return isStrict ? { content: body } : { content: body, problem: `policy "${policy}"` };
}
