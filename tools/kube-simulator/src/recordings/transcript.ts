import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json, JsonObject } from '../api-object.js';

/** A request as it was recorded; placeholders stand for values that differ from run to run. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** The user who sent it; absent for the admin. */
  readonly user?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Json;
  /** A raw body: invalid JSON, YAML, or JSON with duplicate keys. */
  readonly bodyText?: string;
}

export interface RecordedResponse {
  /** HTTP status; 0 when the connection was closed without an answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Json;
}

/** One step: a request with its answer, a watch with its events, or only a note about something done in between. */
export interface Step {
  readonly about?: string;
  readonly request?: RecordedRequest;
  readonly watch?: RecordedRequest;
  readonly response?: RecordedResponse;
  readonly events?: readonly Json[];
  /** `by client` or `by server after N s`. */
  readonly closed?: string;
  readonly note?: string;
  /** The reviews that the webhook got during the step. */
  readonly webhookReceived?: readonly Json[];
}

export interface Transcript {
  /** Such as `11-watch`. */
  readonly scenario: string;
  readonly about: string;
  readonly steps: readonly Step[];
}

/** Every transcript of a folder, in the order of their numbers. */
export function readTranscripts(folder: string | URL): Transcript[] {
  return readdirSync(folder)
    .filter((name) => /^\d\d-.*\.json$/.test(name))
    .sort()
    .map(
      (name) =>
        JSON.parse(readFileSync(join(folder instanceof URL ? fileURLToPath(folder) : folder, name), 'utf8')) as Transcript,
    );
}

/** The two digits a scenario begins with. */
export function scenarioNumber(transcript: Transcript): string {
  return transcript.scenario.slice(0, 2);
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
