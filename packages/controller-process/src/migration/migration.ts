/**
 * Carries out a migration: observes, plans, and does the first step of the plan, until the plan is empty. A step is done when it
 * is no longer planned, so the next run continues one that was killed.
 */
import { randomUUID } from 'node:crypto';
import { APPLIED_BY_VERSION_ANNOTATION, MIGRATION_RUN_ANNOTATION } from '@vmdhcp/ippool-api';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { type KubernetesObject, keyOf, type WriteResult } from '@vmdhcp/kube-runtime';
import { ApiObjectClient, type ApiTransport } from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { listIfServed } from '../cluster/list-if-served.js';
import { applyCrds } from '../crds/apply-crds.js';
import { type MigrationDirection, type MigrationObservation, NOTHING_OBSERVED } from '../migration-plan/migration-observation.js';
import {
  findLosses,
  findMigrationProblems,
  findWayBackProblems,
  type MigrationFindings,
  rightsProblems,
} from '../migration-plan/migration-problems.js';
import { neededRights } from '../migration-plan/migration-rights.js';
import type { MigrationStep, MigrationWrite } from '../migration-plan/migration-step.js';
import { planMigration } from '../migration-plan/plan-migration.js';
import { planWayBack } from '../migration-plan/plan-way-back.js';
import { MigrationBackup } from './migration-backup.js';
import { missingRights, readMigrationFacts } from './migration-facts.js';
import { describeObject, MIGRATED_RESOURCES, observeMigration } from './observe-migration.js';
import { passingTroubleOf, readPatiently } from './passing-trouble.js';

export interface MigrationSettings {
  readonly direction: MigrationDirection;
  readonly backupPath: string;
  /** The time limit of a step, in milliseconds. */
  readonly timeoutMs: number;
  readonly onStep: (step: MigrationStep, place: { readonly number: number; readonly of: number }) => void;
  readonly onProgress: (text: string) => void;
}

/** What was found before anything is changed. */
export interface MigrationOutlook extends MigrationFindings {
  readonly observed: MigrationObservation;
  readonly steps: readonly MigrationStep[];
  /** What the way back loses, for people. */
  readonly losses: readonly string[];
}

const CHECK_MS = 250;
const RETRY_MS = 500;
/** Each run writes its id to this definition. */
const CLAIMED = 'ippools.network.harvesterhci.io';

interface Progress {
  readonly planned: number;
  hasClaimed: boolean;
  number: number;
  /** The id of the last step that was begun. */
  current: string;
  reported: string;
  giveUpAtMs: number;
}

/** A migration from Harvester’s controller or back: first the problems that prevent it, then its steps. */
export class Migration {
  readonly #connection: ApiTransport;
  readonly #settings: MigrationSettings;
  readonly #runId: string;
  /** What replaces the id of this run when nothing is left to do. */
  readonly #doneId: string;
  #backup: MigrationBackup | undefined;

  constructor(connection: ApiTransport, settings: MigrationSettings) {
    this.#connection = connection;
    this.#settings = settings;
    this.#runId = `${settings.direction} ${randomUUID()}`;
    this.#doneId = `done ${this.#runId}`;
    this.#backup = MigrationBackup.read(settings.backupPath);
  }

  /** Looks, and changes nothing. Without the rights to look, only those are reported. */
  look(): Promise<MigrationOutlook> {
    return readPatiently(() => this.#look());
  }

  async #look(): Promise<MigrationOutlook> {
    const lacking = await missingRights(this.#connection, neededRights(this.#settings.direction));
    if (lacking.length > 0)
      return { observed: NOTHING_OBSERVED, steps: [], losses: [], problems: rightsProblems(lacking), warnings: [] };
    const observed = await this.#observe();
    const steps = this.#plan(observed);
    if (steps.length === 0) return { observed, steps, losses: [], problems: [], warnings: [] };
    const facts = await readMigrationFacts(this.#connection, observed);
    return this.#settings.direction === 'forward'
      ? { observed, steps, losses: [], ...findMigrationProblems(observed, facts) }
      : { observed, steps, losses: findLosses(observed, facts.networkConfigs), ...findWayBackProblems(observed, facts) };
  }

  /** @throws CommandError if a step is refused, or takes too long, or another run has begun. */
  async run(planned: number): Promise<void> {
    const progress: Progress = { planned, hasClaimed: false, number: 0, current: '', reported: '', giveUpAtMs: this.#limit() };
    for (let isDone = false; !isDone; ) isDone = await this.#goOn(progress);
  }

  /** @returns true if nothing is left to do. A request that the API server could not answer now is repeated. */
  async #goOn(progress: Progress): Promise<boolean> {
    try {
      return await this.#takeStep(progress);
    } catch (error) {
      const trouble = passingTroubleOf(error);
      if (trouble === undefined) throw error;
      this.#wait(progress, `the API server (${trouble})`);
      await delay(RETRY_MS);
      return false;
    }
  }

  async #takeStep(progress: Progress): Promise<boolean> {
    const observed = await this.#observe();
    if (progress.hasClaimed) this.#expectClaim(observed);
    const steps = this.#plan(observed);
    const [step] = steps;
    if (step === undefined) {
      // Not removed: an earlier run that sleeps has to find out that it is over.
      if (progress.hasClaimed) await this.#claim(this.#doneId);
      return true;
    }
    if (!progress.hasClaimed) await this.#claim(this.#runId);
    progress.hasClaimed = true;
    await this.#begin(step, steps.length, progress);
    return false;
  }

  async #begin(step: MigrationStep, left: number, progress: Progress): Promise<void> {
    if (step.id === progress.current) {
      this.#wait(progress, step.waitsFor ?? `this change to take effect: ${step.title}`);
      await delay(CHECK_MS);
    } else {
      const { planned } = progress;
      progress.number = Math.max(progress.number + 1, planned - left + 1);
      this.#settings.onStep(step, { number: progress.number, of: Math.max(planned, progress.number + left - 1) });
      progress.current = step.id;
      progress.giveUpAtMs = this.#limit() + (step.settlesMs ?? 0);
    }
    if (step.settlesMs !== undefined) await delay(step.settlesMs);
    // A terminal that is stopped (Ctrl-S) blocks the printing of a step: a later run may have begun and ended meanwhile.
    if (step.writes.length > 0) this.#expectClaim(await this.#observe());
    for (const write of step.writes) await this.#take(write);
  }

  #limit(): number {
    return performance.now() + this.#settings.timeoutMs;
  }

  #wait(progress: Progress, waitsFor: string): void {
    if (performance.now() > progress.giveUpAtMs) {
      const message = `still waiting for ${waitsFor} after ${this.#settings.timeoutMs / 1000} s; nothing is undone: find out what blocks it, then run the command again`;
      throw new CommandError(`${message}${this.#urgency()}`, ExitCode.failed);
    }
    if (waitsFor !== progress.reported) this.#settings.onProgress(`waiting for ${waitsFor}`);
    progress.reported = waitsFor;
  }

  /** The Leases that a way back takes expire. */
  #urgency(): string {
    return this.#settings.direction === 'back'
      ? ' within a week (or without --back): after that our agents elect a leader again, which has the server addresses'
      : '';
  }

  /** The last run to begin continues; an earlier one ends when it notices that. */
  async #claim(runId: string): Promise<void> {
    const client = new ApiObjectClient<KubernetesObject>(this.#connection, Resource.customResourceDefinitions);
    const patch = { metadata: { annotations: { [MIGRATION_RUN_ANNOTATION]: runId } } };
    this.#expect(`CustomResourceDefinition ${CLAIMED}`, await client.patch({ key: CLAIMED }, patch));
  }

  #expectClaim(observed: MigrationObservation): void {
    const runId = runIdOf(observed);
    // Done by this one: the answer to its last write was lost.
    if (runId === undefined || runId === this.#runId || runId === this.#doneId) return;
    const message = `another run of this command has begun since (${runId}); this one ends`;
    throw new CommandError(message, ExitCode.failed);
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

  /** An object that another client changed meanwhile is observed again. */
  #expect(what: string, result: WriteResult<unknown>): void {
    if (result.ok || result.reason === 'not-found' || result.reason === 'conflict') return;
    const message = `${what}: ${result.message}; nothing is undone: fix that, then run the command again`;
    throw new CommandError(`${message}${this.#urgency()}`, ExitCode.failed);
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
      listIfServed(new ApiObjectClient<KubernetesObject>(this.#connection, resource));
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

function runIdOf({ definitions }: MigrationObservation): string | undefined {
  const claimed = definitions.find(({ definition }) => definition.metadata.name === CLAIMED);
  return claimed?.definition.metadata.annotations?.[MIGRATION_RUN_ANNOTATION];
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
