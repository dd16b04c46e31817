import type { Json } from '../api-object.js';
import { Bindings } from './bindings.js';
import { compareJson, type Difference, type Place } from './compare-json.js';
import { inOrderOf, withoutOvertaken } from './event-order.js';
import { applyDefinitions, createNamespace } from './hidden-actions.js';
import { HIDDEN_STEPS, type HiddenSteps } from './hidden-steps.js';
import type { Answer, OpenWatch } from './recorded-client.js';
import type { RecordingTarget } from './recording-target.js';
import { ReplayedScenario } from './replayed-scenario.js';
import { ResourceVersionOrder } from './resource-version-order.js';
import {
  isJsonObject,
  type RecordedRequest,
  type RecordedResponse,
  type Step,
  scenarioNumber,
  type Transcript,
} from './transcript.js';

/** A difference and where in the transcripts it is. */
export interface FoundDifference extends Difference {
  readonly scenario: string;
  readonly step: number;
  readonly about: string;
}

export interface ReplayOptions {
  /** The CustomResourceDefinitions that scenarios find installed. */
  readonly definitions: readonly RecordedRequest[];
  /** False if the server is already in the state that the scenario expects: only the steps of the transcript are run. */
  readonly prepare: boolean;
  /** True for an expected difference, which waiting longer would not remove. */
  readonly isAccepted?: (difference: FoundDifference) => boolean;
}

const SETTLING_MS = 5_000;
const EVENTS_MS = 2_500;
/** Long enough for an event that should not come. */
const GRACE_MS = 120;

/** Replays a transcript against a fresh server, and returns every difference in the order of the steps. */
export async function replayTranscript(
  transcript: Transcript,
  target: RecordingTarget,
  options: ReplayOptions,
): Promise<FoundDifference[]> {
  const replay = new Replay(transcript, target, options);
  try {
    return await replay.run();
  } finally {
    await replay.close();
  }
}

interface WatchInFlight {
  readonly step: number;
  readonly watch: OpenWatch;
  /** The server must end it after this much time of the replay; absent if the client closes it. */
  readonly endsAtMs?: number;
}

class Replay {
  private readonly scenario: ReplayedScenario;
  private readonly options: ReplayOptions;
  private readonly hidden: HiddenSteps;
  private readonly found: FoundDifference[] = [];
  private watches: WatchInFlight[] = [];
  /** How much time the server was allowed to pass for its watches. */
  private passedMs = 0;

  constructor(transcript: Transcript, target: RecordingTarget, options: ReplayOptions) {
    this.scenario = new ReplayedScenario(transcript, target);
    this.options = options;
    const hidden = HIDDEN_STEPS[scenarioNumber(transcript)] ?? {};
    this.hidden = options.prepare ? hidden : { ...hidden, before: {} };
    this.scenario.bindings = new Bindings(undefined, new ResourceVersionOrder(hidden.concurrent));
    if (!options.prepare) this.scenario.bindings.allowUnknown();
  }

  async run(): Promise<FoundDifference[]> {
    const { steps } = this.scenario.transcript;
    if (this.options.prepare) await this.guarded(0, () => this.prepare());
    for (const [index, step] of steps.entries()) {
      await this.endWatchesBefore(index);
      await this.guarded(index, async () => {
        await this.hidden.before?.[index]?.(this.scenario);
        this.scenario.webhook?.takeCalls();
        await this.runStep(step, index);
      });
    }
    await this.endWatchesBefore(Number.POSITIVE_INFINITY);
    return this.found.sort((one, other) => one.step - other.step);
  }

  async close(): Promise<void> {
    for (const { watch } of this.watches) watch.close();
    await this.scenario.webhook?.stop();
    this.scenario.close();
  }

  private async prepare(): Promise<void> {
    const { transcript } = this.scenario;
    if (scenarioNumber(transcript) !== '02') await applyDefinitions(this.scenario, this.options.definitions);
    for (const namespace of namespacesOf(transcript, this.hidden)) await createNamespace(this.scenario, namespace);
  }

  /** An action that fails is a difference too; the steps after it show its effect. */
  private async guarded(step: number, action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.report(step, [{ where: 'replay', expected: 'possible', got: error instanceof Error ? error.message : String(error) }]);
    }
  }

  private async runStep(step: Step, index: number): Promise<void> {
    if (step.watch !== undefined) {
      const watch = await this.scenario.openWatch(step.watch, index);
      this.watches.push({ step: index, watch, ...this.endOfTime(step) });
      if (step.response !== undefined)
        this.report(index, this.compareAnswer(step.response, watch.answer, this.at('body', index)));
    }
    if (step.request === undefined || step.response === undefined) return;
    await this.runRequest(this.completed(step.request, index), step.response, index);
    if (step.webhookReceived !== undefined && this.scenario.webhook !== undefined) this.compareCalls(step.webhookReceived, index);
  }

  private completed(request: RecordedRequest, index: number): RecordedRequest {
    const body = this.hidden.bodies?.[index];
    const headers = this.hidden.headers?.[index];
    return {
      ...request,
      ...(body === undefined ? {} : { body: body(this.scenario.transcript.steps) }),
      headers: { ...request.headers, ...headers },
    };
  }

  private async runRequest(request: RecordedRequest, expected: RecordedResponse, index: number): Promise<void> {
    const { isAccepted = () => false } = this.options;
    const deadline = Date.now() + (this.hidden.settling?.includes(index) ? SETTLING_MS : 0);
    for (;;) {
      const answer = await this.scenario.send(request, index);
      const bindings = this.scenario.bindings.copy();
      const differences = this.compareAnswer(expected, answer, { ...this.at('body', index), bindings });
      const isLast = this.located(index, differences).every(isAccepted) || Date.now() >= deadline;
      if (isLast) {
        this.scenario.bindings = bindings;
        this.report(index, differences);
        return;
      }
      await sleep(25);
    }
  }

  private compareAnswer(expected: RecordedResponse, answer: Answer, at: Place): Difference[] {
    if (expected.status !== answer.status) {
      return [{ where: 'status', expected: toLine(expected.status, expected.body), got: toLine(answer.status, answer.body) }];
    }
    if (expected.status === 0) return [];
    const headers = compareJson(expected.headers, answer.headers, { ...at, where: 'headers' });
    return [
      ...headers,
      ...(expected.body === undefined ? [] : compareJson(expected.body, withoutManagedFields(answer.body), at)),
    ];
  }

  private compareCalls(expected: readonly Json[], index: number): void {
    const calls = this.scenario.webhook?.takeCalls() ?? [];
    // Some steps keep the calls of the validating webhook only.
    const onlyValidator = expected.length > 0 && expected.every((call) => isJsonObject(call) && isValidating(call['path']));
    const kept = onlyValidator ? calls.filter(({ path }) => isValidating(path)) : calls;
    this.report(index, this.compare(expected, kept, 'webhookReceived'));
  }

  /** Compares one-time results: bindings that are learned on the way stay. */
  private compare(expected: Json, got: Json, where: string): Difference[] {
    const at = this.at(where);
    const differences = compareJson(expected, got, at);
    this.scenario.bindings = at.bindings;
    return differences;
  }

  private async endWatchesBefore(step: number): Promise<void> {
    const ending = this.watches.filter((open) => this.endOf(open) <= step);
    this.watches = this.watches.filter((open) => !ending.includes(open));
    const closedByClient = ending.filter(({ endsAtMs }) => endsAtMs === undefined);
    await Promise.all(closedByClient.map((open) => this.guarded(open.step, () => this.closeWatch(open))));
    const endedByServer = ending.filter(({ endsAtMs }) => endsAtMs !== undefined);
    endedByServer.sort((one, other) => (one.endsAtMs ?? 0) - (other.endsAtMs ?? 0));
    for (const open of endedByServer) await this.guarded(open.step, () => this.awaitEnd(open));
  }

  /** Watches that the server ends are looked at after the last step. */
  private endOf({ step }: WatchInFlight): number {
    return this.hidden.watchEnds?.[step] ?? Number.POSITIVE_INFINITY;
  }

  private endOfTime({ closed = '' }: Step): { readonly endsAtMs?: number } {
    const seconds = /^by server after (\d+) s$/.exec(closed)?.[1];
    return seconds === undefined ? {} : { endsAtMs: this.passedMs + Number(seconds) * 1000 };
  }

  private async closeWatch(open: WatchInFlight): Promise<void> {
    const expected = this.eventsOf(open);
    await waitUntil(() => open.watch.events.length >= expected.length, EVENTS_MS);
    await sleep(GRACE_MS);
    this.compareWatch(open);
  }

  /** Lets the time of the watch pass: it must be open until the last millisecond, and then end. */
  private async awaitEnd(open: WatchInFlight): Promise<void> {
    const { step, watch, endsAtMs = 0 } = open;
    const { closed = '' } = this.scenario.transcript.steps[step] ?? {};
    const leftMs = endsAtMs - this.passedMs;
    if (leftMs > 0) {
      this.pass(leftMs - 1);
      await sleep(GRACE_MS);
      if (watch.isEnded()) this.report(step, [{ where: 'closed', expected: closed, got: 'ended before' }]);
      this.pass(1);
    }
    await waitUntil(() => watch.isEnded(), EVENTS_MS);
    if (!watch.isEnded()) this.report(step, [{ where: 'closed', expected: closed, got: 'still open' }]);
    this.compareWatch(open);
  }

  private pass(ms: number): void {
    this.passedMs += ms;
    this.scenario.target.passTime(ms);
  }

  private compareWatch(open: WatchInFlight): void {
    open.watch.close();
    this.report(open.step, this.compareEvents(this.eventsOf(open), open.watch.events, open.step));
  }

  private eventsOf({ step }: WatchInFlight): readonly Json[] {
    return this.scenario.transcript.steps[step]?.events ?? [];
  }

  private compareEvents(expected: readonly Json[], got: readonly Json[], step: number): Difference[] {
    const isSame = (wanted: Json, event: Json): boolean => compareJson(wanted, event, this.at('events')).length === 0;
    if (this.hidden.unordered?.includes(step)) return this.compare(expected, inOrderOf(expected, got, isSame), 'events');
    if (this.hidden.overtaken?.includes(step)) return this.compare(withoutOvertaken(expected, got, isSame), got, 'events');
    return this.compare(expected, got, 'events');
  }

  private at(where: string, step = -1): Place {
    const { bindings, transcript } = this.scenario;
    return {
      where,
      bindings: bindings.copy(),
      keepManagedFields: scenarioNumber(transcript) === '09',
      isPart: this.hidden.parts?.includes(step) ?? false,
    };
  }

  private report(step: number, differences: readonly Difference[]): void {
    this.found.push(...this.located(step, differences));
  }

  /** The differences in the words of the transcript, with the place where they are. */
  private located(step: number, differences: readonly Difference[]): FoundDifference[] {
    const { scenario, steps } = this.scenario.transcript;
    const about = steps[step]?.about ?? '';
    const { bindings } = this.scenario;
    return differences.map(({ where, expected, got }) => ({
      ...{ scenario, step, about, where, expected },
      got: bindings.toRecorded(got),
    }));
  }
}

/** YAML is compared as text, so the parts that do not count are removed. */
function withoutManagedFields(body: Json): Json {
  if (typeof body !== 'string') return body;
  const lines = body.split('\n');
  const begin = lines.indexOf('  managedFields:');
  if (begin === -1) return body;
  const length = lines.slice(begin + 1).findIndex((line) => /^( {0,2}[^ -]|$)/.test(line)) + 1;
  return lines.toSpliced(begin, length).join('\n');
}

function isValidating(path: Json | undefined): boolean {
  return typeof path === 'string' && path.startsWith('/v');
}

function toLine(status: number, body: Json | undefined): string {
  const message = isJsonObject(body) ? body['message'] : body;
  return typeof message === 'string' ? `${status} ${message}` : String(status);
}

function namespacesOf({ steps }: Transcript, { namespaces = [] }: HiddenSteps): string[] {
  const found = new Set(namespaces);
  for (const { request, watch } of steps) {
    const name = /\/namespaces\/([^/?]+)[/?]/.exec((request ?? watch)?.path ?? '')?.[1];
    if (name !== undefined && name !== 'default' && name !== 'no-such-ns') found.add(name);
  }
  return [...found];
}

async function waitUntil(condition: () => boolean, patienceMs: number): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!condition() && Date.now() < deadline) await sleep(20);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
