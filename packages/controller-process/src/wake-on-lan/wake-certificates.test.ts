import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import type { SecretStore, StoredSecret } from '@vmdhcp/service-certificates';
import type { Logger } from '@vmdhcp/service-process';
import type { TlsMaterial } from '@vmdhcp/wake-on-lan/service';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WakeCertificates } from './wake-certificates.js';

const DAY_MS = 86_400_000;
const LOOK_MS = 10_000;

let kept: WakeCertificates | undefined;

afterEach(() => kept?.stop());

/** Secrets, a clock that can be set, and the logged errors. */
class World {
  readonly clock = new FakeClock();
  readonly errors: string[] = [];
  readonly used: TlsMaterial[] = [];
  readonly expiries = new Map<string, number>();
  wallTimeMs = Date.parse('2026-01-01T00:00:00Z');
  refusal: Error | undefined;
  writes = 0;
  reads = 0;
  isWatching = false;
  change: () => void = () => undefined;
  readonly #secrets = new Map<string, StoredSecret>();
  readonly certificates: WakeCertificates;

  constructor() {
    const note = (fields: unknown, message?: string) => this.errors.push(message ?? String(fields));
    const secrets: SecretStore = {
      read: async (name) => {
        this.reads++;
        if (this.refusal !== undefined) throw this.refusal;
        return this.#secrets.get(name) ?? { resourceVersion: undefined, data: {} };
      },
      write: async (name, _, data) => {
        this.writes++;
        this.#secrets.set(name, { resourceVersion: String(this.writes), data });
        return 'written';
      },
    };
    this.certificates = new WakeCertificates({
      secrets,
      watch: (onChange) => {
        this.change = onChange;
        return { isComplete: () => this.isWatching, start: () => {}, stop: () => {} };
      },
      clock: this.clock,
      wallTimeMs: () => this.wallTimeMs,
      logger: { info: () => {}, error: note } as unknown as Logger,
      onMaterial: (material) => this.used.push(material),
      onExpiry: (certificate, notAfterMs) => this.expiries.set(certificate, notAfterMs),
    });
    kept = this.certificates;
  }

  async start(): Promise<void> {
    this.certificates.start();
    await this.#looked();
  }

  /** Until it has checked the Secrets once more. */
  async lookAgain(): Promise<void> {
    await this.clock.advance(LOOK_MS);
    await this.#looked();
  }

  /** The next check is planned when the previous one has ended. */
  async #looked(): Promise<void> {
    await vi.waitFor(() => expect(this.clock.pending).toBe(1), { timeout: 20_000 });
  }
}

describe('WakeCertificates', () => {
  it('if Secrets are watched, nothing is read until one of them changes, or ten minutes have passed', async () => {
    const world = new World();
    world.isWatching = true;
    await world.start();
    const { reads } = world;
    await world.clock.advance(9 * 60_000);
    expect(world.reads).toBe(reads);
    world.change();
    await world.lookAgain();
    expect(world.reads).toBe(reads + 4);
    for (let look = 0; look < 60; look++) await world.clock.advance(LOOK_MS);
    await vi.waitFor(() => expect(world.reads).toBe(reads + 8));
  });

  it('a clock that jumps back: the certificate stays in use, nothing is written, and the log says once what to do', async () => {
    const world = new World();
    await world.start();
    expect([world.used.length, world.certificates.problem]).toEqual([1, undefined]);
    const inDays = (notAfterMs = 0) => (notAfterMs - world.wallTimeMs) / DAY_MS;
    expect(['manager', 'agents'].map((of) => Math.round(inDays(world.expiries.get(of))))).toEqual([90, 90]);
    const { writes } = world;
    world.wallTimeMs -= 30 * DAY_MS;
    for (let look = 0; look < 3; look++) await world.lookAgain();
    expect(world.certificates.problem).toMatch(/clock of this host is behind.*Correct the clock/);
    expect(world.errors).toEqual([world.certificates.problem]);
    expect([world.used.length, world.writes]).toEqual([1, writes]);
    world.wallTimeMs += 30 * DAY_MS;
    await world.lookAgain();
    expect([world.certificates.problem, world.used.length, world.writes]).toEqual([undefined, 1, writes]);
  });

  it('a clock that jumps over the end of the authority: there is another one, and it is used', async () => {
    const world = new World();
    await world.start();
    world.wallTimeMs += 1_000 * DAY_MS;
    await world.lookAgain();
    const [before, after] = world.used;
    expect([world.used.length, world.errors]).toEqual([2, []]);
    expect(after?.authorities).not.toBe(before?.authorities);
  });

  it('Secrets that cannot be read: logged once, and used when they can', async () => {
    const world = new World();
    world.refusal = new Error('secrets is forbidden');
    await world.start();
    await world.lookAgain();
    expect(world.certificates.problem).toBe('the certificates of Wake-on-LAN cannot be kept: secrets is forbidden');
    expect(world.errors).toHaveLength(1);
    world.refusal = undefined;
    await world.lookAgain();
    expect([world.certificates.problem, world.used.length]).toEqual([undefined, 1]);
  });
});
