import type { PageError } from '../../model/page-data.js';

/** The result of a request. */
export type RequestResult<Data> =
  | { readonly kind: 'data'; readonly data: Data }
  /** The server requires a token, or refused the one that it got; `message` is the server's. */
  | { readonly kind: 'sign-in'; readonly message: string }
  /** The server refused: a right is missing, the pool does not exist, and so on. */
  | { readonly kind: 'refused'; readonly status: number; readonly message: string }
  /** No answer: the connection failed, or another server answered. */
  | { readonly kind: 'unreachable'; readonly message: string };

const TIMEOUT_MS = 20_000;
const TOKEN_KEY = 'vmdhcp-token';

/** Requests to the server of this page, with the token of the user. */
export class PageClient {
  readonly #base: string;

  /** @param base - the address of the page, to which the addresses of requests are relative. */
  constructor(base: string) {
    this.#base = base;
  }

  /** Kept only for this tab, until it is closed. Empty for none. */
  get token(): string {
    return sessionStorage.getItem(TOKEN_KEY) ?? '';
  }

  set token(token: string) {
    if (token === '') sessionStorage.removeItem(TOKEN_KEY);
    else sessionStorage.setItem(TOKEN_KEY, token);
  }

  /** @param path - `api/overview`; parameters that are empty are left out. Never rejects. */
  async get<Data>(path: string, parameters: Readonly<Record<string, string>> = {}): Promise<RequestResult<Data>> {
    try {
      const response = await this.open(path, parameters, AbortSignal.timeout(TIMEOUT_MS));
      if (!response.ok) return await toRefusal(response);
      const data = (await response.json()) as Data;
      return { kind: 'data', data };
    } catch (error) {
      return { kind: 'unreachable', message: describe(error) };
    }
  }

  /** The response itself, for streams. Rejects if no server answers. */
  async open(path: string, parameters: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response> {
    const url = new URL(path, this.#base);
    for (const [name, value] of Object.entries(parameters)) if (value !== '') url.searchParams.set(name, value);
    const token = this.token;
    const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
    return fetch(url, { signal, headers, cache: 'no-store', credentials: 'same-origin' });
  }
}

/** The result for a response with status 400 and above. */
export async function toRefusal(response: Response): Promise<Exclude<RequestResult<never>, { kind: 'data' }>> {
  const message = await readMessage(response);
  if (response.status === 401) return { kind: 'sign-in', message };
  // Gateways answer for missing servers, 503 comes from a server that starts or stops, and 429 from one that is too busy.
  if (response.status >= 500 || response.status === 429) return { kind: 'unreachable', message };
  return { kind: 'refused', status: response.status, message };
}

async function readMessage(response: Response): Promise<string> {
  const fallback = `the server answered with status ${response.status}`;
  try {
    const { message } = (await response.json()) as Partial<PageError>;
    return typeof message === 'string' && message !== '' ? message : fallback;
  } catch {
    return fallback;
  }
}

function describe(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'the server did not answer within 20 seconds';
  return 'the server cannot be reached';
}
