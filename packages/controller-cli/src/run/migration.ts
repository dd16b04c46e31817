/**
 * Carries a migration out: observes, plans, and does the first step of the plan, until the plan is empty. A step is done when it is not
 * planned any more, so that a run that was killed is continued by the next one.
 */
import { APPLIED_BY_VERSION_ANNOTATION } from '@vmdhcp/ippool-api';
import { type KubernetesObject, keyOf, type WriteResult } from '@vmdhcp/kube-runtime';
import { type ApiConnection, ApiObjectClient } from '@vmdhcp/kube-runtime/node';
import {
  findLosses,
  findMigrationProblems,
  findWayBackProblems,
  type MigrationDirection,
  type MigrationFindings,
  type MigrationObservation,
  type MigrationStep,
  type MigrationWrite,
  NOTHING_OBSERVED,
  neededRights,
  planMigration,
  planWayBack,
  Resource,
  rightsProblems,
} from '@vmdhcp/reconciler';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { applyCrds } from './apply-crds.js';
import { listAll } from './list-all.js';
import { MigrationBackup } from './migration-backup.js';
import { missingRights, readMigrationFacts } from './migration-facts.js';
import { describeObject, MIGRATED_RESOURCES, observeMigration } from './observe-migration.js';

export interface MigrationSettings {
  readonly direction: MigrationDirection;
  readonly backupPath: string;
  /** How long a step may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly onStep: (step: MigrationStep, place: { readonly number: number; readonly of: number }) => void;
  readonly onProgress: (text: string) => void;
}

/** What was found before anything is changed. */
export interface MigrationOutlook extends MigrationFindings {
  readonly observed: MigrationObservation;
  readonly steps: readonly MigrationStep[];
  /** What is lost on the way back, for people. */
  readonly losses: readonly string[];
}

const CHECK_MS = 250;

export class Migration {
  readonly #connection: ApiConnection;
  readonly #settings: MigrationSettings;
  #backup: MigrationBackup | undefined;

  constructor(connection: ApiConnection, settings: MigrationSettings) {
    this.#connection = connection;
    this.#settings = settings;
    this.#backup = MigrationBackup.read(settings.backupPath);
  }

  /** Looks, and changes nothing. Without the rights to look there is nothing else to be seen. */
  async look(): Promise<MigrationOutlook> {
    const lacking = await missingRights(this.#connection, neededRights(this.#settings.direction));
    if (lacking.length > 0)
      return { observed: NOTHING_OBSERVED, steps: [], losses: [], problems: rightsProblems(lacking), warnings: [] };
    const observed = await this.#observe();
    const steps = this.#plan(observed);
    if (steps.length === 0) return { observed, steps, losses: [], problems: [], warnings: [] };
    const facts = await readMigrationFacts(this.#connection, observed);
    return this.#settings.direction === 'forward'
      ? { observed, steps, losses: [], ...findMigrationProblems(observed, facts) }
      : { observed, steps, losses: findLosses(observed, facts.networkConfigs), ...findWayBackProblems(observed) };
  }

  /** @throws CommandError where a step is refused, or takes too long. */
  async run(planned: number): Promise<void> {
    let [current, reported, giveUpAtMs, number] = ['', '', 0, 0];
    for (;;) {
      const steps = this.#plan(await this.#observe());
      const [step] = steps;
      if (step === undefined) return;
      if (step.id === current) {
        reported = this.#wait(step, { reported, giveUpAtMs });
        await delay(CHECK_MS);
      } else {
        number = Math.max(number + 1, planned - steps.length + 1);
        this.#settings.onStep(step, { number, of: Math.max(planned, number + steps.length - 1) });
        [current, giveUpAtMs] = [step.id, performance.now() + this.#settings.timeoutMs];
      }
      for (const write of step.writes) await this.#take(write);
      await this.#settle(step);
    }
  }

  /** @returns what was reported last. */
  #wait({ title, waitsFor = title }: MigrationStep, { reported, giveUpAtMs }: { reported: string; giveUpAtMs: number }): string {
    if (performance.now() > giveUpAtMs) {
      const message = `still waiting for ${waitsFor} after ${this.#settings.timeoutMs / 1000} s; nothing is undone: find out what keeps it from going on, then run the command again`;
      throw new CommandError(message, ExitCode.failed);
    }
    if (waitsFor !== reported) this.#settings.onProgress(`waiting for ${waitsFor}`);
    return waitsFor;
  }

  async #settle({ settlesMs = 0, writes }: MigrationStep): Promise<void> {
    if (settlesMs > 0 && writes.length > 0) await delay(settlesMs);
  }

  #observe(): Promise<MigrationObservation> {
    return observeMigration(this.#connection, this.#backup);
  }

  #plan(observed: MigrationObservation): MigrationStep[] {
    return this.#settings.direction === 'forward' ? planMigration(observed) : planWayBack(observed);
  }

  async #take(write: MigrationWrite): Promise<void> {
    switch (write.kind) {
      case 'back-up':
        await this.#backUp();
        return;
      case 'define':
        await applyCrds(this.#connection);
        return;
      case 'restore':
        this.#expect(`CustomResourceDefinition ${write.name}`, await this.#restore(write.name));
        return;
      case 'patch':
      case 'patch-status':
      case 'delete':
        this.#expect(describeObject(write.object), await this.#write(write));
    }
  }

  /** What another client changed meanwhile is observed again. */
  #expect(what: string, result: WriteResult<unknown>): void {
    if (result.ok || result.reason === 'not-found' || result.reason === 'conflict') return;
    throw new CommandError(`${what}: ${result.message}`, ExitCode.failed);
  }

  async #write(write: Extract<MigrationWrite, { readonly object: KubernetesObject }>): Promise<WriteResult<unknown>> {
    const client = new ApiObjectClient<KubernetesObject>(this.#connection, MIGRATED_RESOURCES[write.of]);
    const key = keyOf(write.object);
    const { uid = '', resourceVersion } = write.object.metadata;
    switch (write.kind) {
      case 'delete':
        return client.delete(key, uid);
      case 'patch':
        // Agents renew their Lease all the time.
        return client.patch({ key, ...(write.of !== 'Lease' && { resourceVersion }) }, write.patch);
      case 'patch-status':
        return client.patchStatus({ key }, write.patch);
    }
  }

  async #backUp(): Promise<void> {
    const observed = await this.#observe();
    const list = (resource: (typeof Resource)[keyof typeof Resource]) =>
      listAll(new ApiObjectClient<KubernetesObject>(this.#connection, resource));
    const objects = [
      ...observed.definitions.map(({ definition }) => definition),
      ...observed.workloads.map(({ deployment }) => deployment),
      ...observed.addOns,
      ...observed.registrations,
      ...observed.pools,
      ...(await list(Resource.networkConfigs)),
      ...(await list(Resource.networks)),
      ...observed.agentPods,
    ];
    this.#backup = MigrationBackup.write(this.#settings.backupPath, objects);
  }

  async #restore(name: string): Promise<WriteResult<unknown>> {
    const client = new ApiObjectClient<KubernetesObject>(this.#connection, Resource.customResourceDefinitions);
    const backedUp = this.#backup?.definition(name);
    const present = await client.get(name);
    if (backedUp === undefined || present === undefined) return { ok: false, reason: 'not-found', message: `${name} is gone` };
    const { [APPLIED_BY_VERSION_ANNOTATION]: _, ...annotations } = present.metadata.annotations ?? {};
    return client.replace({ ...present, metadata: { ...present.metadata, annotations }, spec: backedUp.spec });
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
