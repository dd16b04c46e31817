/** Power actions and the boot override of every computer system of a service. */
import { type ActionPlan, planNetworkBoot, planReset, resetInfoLink } from '../action/plan-action.js';
import type { ResetType } from '../action/reset-type.js';
import { taskState } from '../action/task-state.js';
import { isOutcomeUnknown, RedfishError, type RedfishErrorCode } from '../error/redfish-error.js';
import { retryAfterMs } from '../http/answer-failure.js';
import type { Call } from '../http/call.js';
import { SERVICE_ROOT, type Service, type ServiceAnswer, type ServiceRequest } from '../http/service.js';
import { linkAt, type RedfishResource, textAt } from '../resource/resource.js';
import { readMembers } from './members.js';

const MOST_BETWEEN_LOOKS_MS = 10_000;
/** Failures of one look at a task, which say nothing about the task. */
const LOST_LOOKS: ReadonlySet<RedfishErrorCode> = new Set(['unavailable', 'connection-lost']);
/** The service has no time for the look, or the monitor is locked. Source: RFC 9110 §15.5.9, RFC 4918 §11.3, RFC 8470 §5.2. */
const LOST_LOOK_STATUSES: ReadonlySet<number | undefined> = new Set([408, 423, 425]);

export interface ActionSettings {
  readonly service: Service;
  readonly call: Call;
  /** Milliseconds between two polls of a task if the service does not state a delay. */
  readonly taskPollMs: number;
}

/** Switches the power of each system. Nothing is sent if one of them does not offer the type. */
export async function resetSystems(settings: ActionSettings, type: ResetType): Promise<void> {
  const systems = await readSystems(settings);
  const plans = new Map<RedfishResource, ActionPlan>();
  for (const system of systems) plans.set(system, planReset(system, type, await readResetInfo(settings, system)));
  refuseUnsupported(plans);
  await forEachSystem(settings.call, plans, ({ link, body }) => send(settings, { method: 'POST', link, body }));
}

/** Sets the next boot of each system to the network, once. */
export async function bootSystemsFromNetwork(settings: ActionSettings): Promise<void> {
  const systems = await readSystems(settings);
  const plans = new Map(systems.map((system) => [system, planNetworkBoot(system)]));
  refuseUnsupported(plans);
  await forEachSystem(settings.call, plans, ({ link, body }) => patch(settings, link, body));
}

async function readSystems({ service, call }: ActionSettings): Promise<RedfishResource[]> {
  const systems = linkAt(await service.read(call, SERVICE_ROOT), 'Systems');
  const members =
    systems === undefined
      ? []
      : await readMembers(
          async (link, to) => to(await service.read(call, link)),
          systems,
          (system) => system,
        );
  if (members.length === 0) throw new RedfishError('unsupported', 'the service has no computer system');
  return members;
}

async function readResetInfo({ service, call }: ActionSettings, system: RedfishResource): Promise<RedfishResource | undefined> {
  const link = resetInfoLink(system);
  return link === undefined ? undefined : service.read(call, link);
}

type PossiblePlan = Extract<ActionPlan, { ok: true }>;

function refuseUnsupported(plans: ReadonlyMap<RedfishResource, ActionPlan>): void {
  const problems = [...plans].flatMap(([system, plan]) => (plan.ok ? [] : [`${nameOf(system)}: ${plan.problem}`]));
  if (problems.length > 0) throw new RedfishError('unsupported', problems.join('; '));
}

/** Acts on each system, even after one of them failed; then throws one failure with the messages of all: if an outcome is unknown, that counts first. */
async function forEachSystem(
  call: Call,
  plans: ReadonlyMap<RedfishResource, ActionPlan>,
  act: (plan: PossiblePlan) => Promise<void>,
): Promise<void> {
  const failures: RedfishError[] = [];
  for (const [, plan] of plans) {
    if (!plan.ok) continue;
    const changesBefore = call.changes;
    try {
      await act(plan);
    } catch (error) {
      if (!(error instanceof RedfishError)) throw error;
      failures.push(error.with(error.message, { isChangeSent: call.changes > changesBefore }));
    }
  }
  const [first] = failures;
  if (first === undefined) return;
  if (plans.size === 1) throw first;
  const text = `${failures.length} of ${plans.size} systems: ${failures.map(({ message }) => message).join('; ')}`;
  const { code, isChangeSent } = failures.find(isOutcomeUnknown) ?? first;
  throw new RedfishError(code, text, { isChangeSent, cause: first });
}

/**
 * Sends `If-Match` if the service provides an ETag. After HTTP 412 it reads the resource again, and retries with the new ETag, without the mark of a
 * weak one.
 */
async function patch(settings: ActionSettings, link: string, body: RedfishResource): Promise<void> {
  const request = (tag: string | undefined): ServiceRequest => ({
    method: 'PATCH',
    link,
    body,
    ...(tag !== undefined && { headers: { 'If-Match': tag } }),
  });
  const first = await readTag(settings, link);
  try {
    await send(settings, request(first));
  } catch (error) {
    if (!(error instanceof RedfishError) || error.code !== 'precondition-failed') throw error;
    const second = await readTag(settings, link);
    await send(settings, request(second?.replace(/^W\//, '')));
  }
}

async function readTag({ service, call }: ActionSettings, link: string): Promise<string | undefined> {
  const { answer, resource } = await service.request(call, { method: 'GET', link });
  const tag = answer.header('etag') ?? textAt(resource, '@odata.etag');
  return tag === undefined || /[^\x21-\x7e]/.test(tag) ? undefined : tag;
}

async function send(settings: ActionSettings, request: ServiceRequest): Promise<void> {
  const sent = await settings.service.request(settings.call, request);
  if (sent.answer.status === 202) await finish(settings, sent);
}

/** Waits until the task of an accepted action has ended. If the service names no task, acceptance is all that can be known. */
async function finish(settings: ActionSettings, accepted: ServiceAnswer): Promise<void> {
  const { service, call } = settings;
  const monitor = accepted.answer.header('location') ?? linkAt(accepted.resource);
  if (monitor === undefined) return;
  let look = accepted;
  for (;;) {
    const state = taskState(look.answer.status, look.resource, service.redact);
    if (state.kind === 'done') return;
    if (state.kind === 'failed') throw new RedfishError('task-failed', `${monitor.slice(0, 200)}: ${state.message}`);
    // Some services say 0.
    const askedMs = Math.max(retryAfterMs(look.answer) ?? 0, settings.taskPollMs);
    await call.wait(Math.min(askedMs, MOST_BETWEEN_LOOKS_MS));
    look = await service.request(call, { method: 'GET', link: monitor }).catch((error: unknown) => {
      if (!(error instanceof RedfishError) || error.code === 'aborted') throw error;
      // The next look may succeed, as long as the call has time.
      if (LOST_LOOKS.has(error.code) || LOST_LOOK_STATUSES.has(error.status)) return look;
      throw afterAcceptance(error);
    });
  }
}

/** The monitor of a task that failed answers as the action would have. Source: DSP0266, "Asynchronous operations". */
function afterAcceptance(error: RedfishError): RedfishError {
  const code = error.code === 'refused' ? 'task-failed' : 'outcome-unknown';
  return new RedfishError(code, `accepted, and then ${error.message}`, { cause: error });
}

function nameOf(system: RedfishResource): string {
  return linkAt(system) ?? textAt(system, 'Id') ?? 'a computer system';
}
