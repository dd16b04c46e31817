import type { IncomingMessage } from 'node:http';
import { parse as parseYaml } from 'yaml';
import type { Json, JsonObject } from '../api-object.js';
import { badRequest, requestTooLarge, unsupportedMediaType } from '../failures.js';
import { goTypeOf, isObject } from '../resources/go-type.js';
import type { ResourceType } from '../resources/resource-type.js';

const maxBytes = 3_145_728;

/** Returns the whole body. Throws ApiError 413 when it is over 3 MiB. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // The rest is read, or the client would not see the answer.
    if (size <= maxBytes) chunks.push(chunk);
  }
  if (size > maxBytes) throw requestTooLarge(`limit is ${maxBytes}`);
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

const accepted = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

/** The media type without parameters; a missing one is JSON. */
export function mediaTypeOf(request: IncomingMessage): string {
  const header = request.headers['content-type'];
  if (header === undefined || header === '') return 'application/json';
  return (header.split(';', 1)[0] ?? '').trim();
}

/** The body of a create or update as an object of some kind. Throws ApiError 400 or 415, in the words of Go's decoder. */
export function parseObject(body: Buffer, mediaType: string, type: ResourceType): JsonObject {
  if (mediaType !== 'application/json' && mediaType !== 'application/yaml') throw unsupportedMediaType(accepted);
  const unrecognized = (why: string): Error =>
    badRequest(`the object provided is unrecognized (must be of type ${type.kind}): ${why} (${summary(body)})`);
  const value = mediaType === 'application/json' ? parseJson(body, unrecognized) : parseYamlBody(body, unrecognized);
  if (!isObject(value)) {
    const what =
      'Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
    throw unrecognized(`couldn't get version/kind; json parse error: json: cannot unmarshal ${goTypeOf(value)} into ${what}`);
  }
  if (type.custom && (value['kind'] ?? '') === '') throw unrecognized(`Object 'Kind' is missing in '${body.toString('utf8')}'`);
  return value;
}

/** The body of a deletion: options, or nothing. */
export function parseOptions(body: Buffer): JsonObject {
  if (body.length === 0) return {};
  const value = parseJson(body, badRequest);
  if (!isObject(value))
    throw badRequest(`couldn't get version/kind; json parse error: json: cannot unmarshal ${goTypeOf(value)}`);
  return value;
}

/** The body of a patch. */
export function parsePatch(body: Buffer, mediaType: string): Json {
  if (mediaType.endsWith('+yaml')) return (parseYaml(body.toString('utf8')) ?? null) as Json;
  try {
    return JSON.parse(body.toString('utf8')) as Json;
  } catch {
    throw badRequest(`error decoding patch: ${goParseError(body.toString('utf8'))}`);
  }
}

function parseJson(body: Buffer, failure: (why: string) => Error): Json {
  const text = body.toString('utf8');
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw failure(`couldn't get version/kind; json parse error: ${goParseError(text)}`);
  }
}

function parseYamlBody(body: Buffer, failure: (why: string) => Error): Json {
  try {
    return (parseYaml(body.toString('utf8')) ?? null) as Json;
  } catch (error) {
    throw failure(`couldn't get version/kind; json parse error: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const summaryLength = 30;

/** Source: k8s.io/apiserver/pkg/endpoints/handlers summarizeData. */
function summary(body: Buffer): string {
  if (body.length === 0) return '<empty>';
  const part = body.subarray(0, summaryLength);
  const more = body.length > summaryLength ? ' ...' : '';
  return `${body[0] === 0x7b ? part.toString('utf8') : part.toString('hex')}${more}`;
}

const literals: Readonly<Record<string, string>> = { n: 'null', t: 'true', f: 'false' };

/** The message of Go's encoding/json about a text that JSON.parse refuses: the end, a broken literal, or an unexpected character. */
export function goParseError(text: string): string {
  const literal = literals[text[0] ?? ''];
  if (literal !== undefined) {
    const at = [...literal].findIndex((character, index) => text[index] !== character);
    if (at > 0 && at < text.length) return `invalid character '${text[at]}' in literal ${literal} (expecting '${literal[at]}')`;
  }
  try {
    JSON.parse(text);
  } catch (error) {
    const position = /at position (\d+)/.exec(String(error))?.[1];
    const character = position === undefined ? undefined : text[Number(position)];
    if (character !== undefined) return `invalid character '${character}' looking for beginning of value`;
  }
  return 'unexpected end of JSON input';
}
